CREATE TABLE "sync"."coverage_reach" (
	"resource" text PRIMARY KEY NOT NULL,
	"counted_until" timestamp with time zone NOT NULL,
	"thinned_until" timestamp with time zone
);
--> statement-breakpoint
-- Written by hand: what was counted so far is what is left of a ledger that was thinned out.
INSERT INTO "sync"."coverage_reach" ("resource", "counted_until", "thinned_until")
SELECT "resource", max("hour") + interval '1 hour', max("hour") + interval '1 hour' FROM "sync"."coverage_hour" GROUP BY "resource";--> statement-breakpoint
CREATE TABLE "game"."member_counter_dip" (
	"guild_uuid" uuid NOT NULL,
	"player_uuid" uuid NOT NULL,
	"counter" text NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"fell_at" timestamp with time zone NOT NULL,
	CONSTRAINT "member_counter_dip_pkey" PRIMARY KEY("guild_uuid","counter","player_uuid","hour")
);
--> statement-breakpoint
CREATE INDEX "territory_current" ON "game"."territory" USING btree ("territory") WHERE valid_until = 'infinity';