CREATE TABLE "sync"."claim" (
	"resource" text NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"value" text NOT NULL,
	"first_at" timestamp with time zone NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	"first_received_at" timestamp with time zone NOT NULL,
	"last_received_at" timestamp with time zone NOT NULL,
	"times" integer NOT NULL,
	"run_id" uuid NOT NULL,
	CONSTRAINT "claim_pkey" PRIMARY KEY("resource","kind","subject","value")
);
--> statement-breakpoint
-- What was pending stays so: the next response may be the same as the last one, and then nothing would be counted anew.
INSERT INTO "sync"."claim"
SELECT "resource", "kind", "subject", "value", "first_missed_at", "last_missed_at",
       coalesce("first_received_at", "first_missed_at"), coalesce("last_received_at", "last_missed_at"), "times",
       '00000000-0000-0000-0000-000000000000'
  FROM "sync"."absence"
 CROSS JOIN LATERAL (
   SELECT 'unlisted' AS "kind", substr("key", 10) AS "subject", '' AS "value" WHERE "resource" = 'online-players' AND starts_with("key", 'unlisted/')
    UNION ALL
   SELECT 'skipped', substr("key", 9), '' WHERE "resource" = 'world-events' AND starts_with("key", 'skipped/')
    UNION ALL
   SELECT 'empty place', "key", '' WHERE "resource" = 'leaderboards' AND "key" ~ '/[0-9]+$'
    UNION ALL
   SELECT 'older', left("key", -17), right("key", 16) WHERE "resource" = 'territories/holds' AND "key" ~ ' [0-9a-f]{16}$'
    UNION ALL
   SELECT 'missing', "key", ''
    WHERE NOT coalesce("resource" = 'online-players' AND starts_with("key", 'unlisted/')
       OR "resource" = 'world-events' AND starts_with("key", 'skipped/')
       OR "resource" = 'leaderboards' AND "key" ~ '/[0-9]+$'
       OR "resource" = 'territories/holds' AND "key" ~ ' [0-9a-f]{16}$', false)) AS "said"
ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO "sync"."claim"
SELECT "resource", CASE WHEN "ended" IS NULL THEN 'shown' ELSE 'returned' END, "key", coalesce("ended", "valid_from")::text,
       "observed_at", "observed_at", "observed_at", "observed_at", 1, '00000000-0000-0000-0000-000000000000'
  FROM "sync"."unconfirmed_version"
ON CONFLICT DO NOTHING;--> statement-breakpoint
DROP TABLE "sync"."absence" CASCADE;--> statement-breakpoint
DROP TABLE "sync"."unconfirmed_version" CASCADE;