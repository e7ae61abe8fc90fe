CREATE TABLE "game"."territory_capture" (
	"territory" text NOT NULL,
	"captured_at" timestamp with time zone NOT NULL,
	"held_from" timestamp with time zone NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"from_guild_uuid" uuid,
	"from_guild_name" text,
	"to_guild_uuid" uuid NOT NULL,
	"to_guild_name" text,
	CONSTRAINT "territory_capture_pkey" PRIMARY KEY("territory","captured_at","held_from")
);
--> statement-breakpoint
DROP INDEX "game"."territory_hold_captured";--> statement-breakpoint
DROP INDEX "game"."territory_hold_captured_place";--> statement-breakpoint
DROP INDEX "game"."territory_hold_by_guild";--> statement-breakpoint
-- By hand, from here: the captures of all holds that there are, in the order of time, before the indexes are made. The versions
-- of a place are one chain, so the one before is the one that began before.
SET LOCAL work_mem = '64MB';--> statement-breakpoint
INSERT INTO "game"."territory_capture" ("territory", "captured_at", "held_from", "observed_at", "from_guild_uuid", "from_guild_name", "to_guild_uuid", "to_guild_name")
SELECT hold.territory, coalesce(hold.acquired, hold.valid_from), hold.valid_from, hold.observed_at,
       hold.before_uuid, hold.before_name, hold.guild_uuid, hold.guild_name
  FROM (SELECT version.territory, version.valid_from, version.previous_until, version.acquired, version.observed_at,
               version.guild_uuid, version.guild_name, lag(version.guild_uuid) OVER own AS before_uuid,
               lag(version.guild_name) OVER own AS before_name, lag(version.acquired) OVER own AS before_acquired
          FROM "game"."territory_hold" version
        WINDOW own AS (PARTITION BY version.territory ORDER BY version.valid_from)) hold
 WHERE hold.previous_until IS NOT NULL AND hold.guild_uuid IS NOT NULL
   AND (hold.guild_uuid IS DISTINCT FROM hold.before_uuid OR hold.acquired > hold.before_acquired)
   AND NOT ((hold.acquired < hold.valid_from
             OR hold.territory IN (SELECT foretold.territory FROM "game"."territory_hold" foretold
                                    WHERE foretold.acquired > foretold.valid_from))
            AND EXISTS (SELECT FROM "game"."territory_hold" earlier
                         WHERE earlier.territory = hold.territory AND earlier.valid_from < hold.valid_from
                           AND earlier.guild_uuid = hold.guild_uuid AND earlier.acquired >= hold.acquired))
 ORDER BY 2;--> statement-breakpoint
SET LOCAL work_mem TO DEFAULT;--> statement-breakpoint
-- What is new is soon known to be visible to all, so that indexes alone answer: by default a fifth of the table must be new.
ALTER TABLE "game"."territory_capture" SET (autovacuum_vacuum_insert_scale_factor = 0.01);--> statement-breakpoint
ALTER TABLE "game"."territory_hold" SET (autovacuum_vacuum_insert_scale_factor = 0.01);--> statement-breakpoint
-- By hand, until here.
CREATE INDEX "territory_capture_time" ON "game"."territory_capture" USING btree ("captured_at","to_guild_uuid","from_guild_uuid");--> statement-breakpoint
CREATE INDEX "territory_capture_guild" ON "game"."territory_capture" USING btree ("to_guild_uuid","captured_at");--> statement-breakpoint
CREATE INDEX "territory_hold_first" ON "game"."territory_hold" USING btree ("territory") WHERE previous_until is null;--> statement-breakpoint
CREATE INDEX "territory_hold_by_guild" ON "game"."territory_hold" USING btree ("guild_uuid","valid_from","valid_until","guild_name");