-- What reads a column that goes, with a body that reads nothing until it is installed anew: what others made of it, and granted on it, stays.
DO $$
DECLARE
  playtime record;
BEGIN
  SELECT proc.oid, pg_get_function_result(proc.oid) AS result,
         (SELECT string_agg('null::' || format_type(argument.type, NULL), ', ' ORDER BY argument.nth)
            FROM unnest(proc.proallargtypes, proc.proargmodes) WITH ORDINALITY AS argument(type, mode, nth) WHERE argument.mode = 't') AS columns
    INTO playtime
    FROM pg_proc proc WHERE proc.oid = to_regprocedure('analytics.player_playtime(uuid, timestamptz, timestamptz)');
  IF playtime.oid IS NOT NULL THEN
    EXECUTE format('create or replace function analytics.player_playtime(player uuid, from_time timestamptz, to_time timestamptz)
                    returns %s language sql stable as %L', playtime.result, 'select ' || playtime.columns || ' where false');
  END IF;
END
$$;--> statement-breakpoint
DROP INDEX "sync"."work_item_refused";--> statement-breakpoint
ALTER TABLE "sync"."privacy_restriction" ADD COLUMN "is_pending" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "sync"."privacy_restriction" ADD COLUMN "is_refusal" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "sync"."privacy_restriction" SET "is_pending" = true WHERE "awaits" > 0;--> statement-breakpoint
INSERT INTO "sync"."claim" ("resource", "kind", "subject", "value", "first_at", "last_at", "first_received_at", "last_received_at", "times", "run_id")
SELECT split_part("told_by", '/', 1) || '/restrictions', 'restricted', substr("told_by", strpos("told_by", '/') + 1) || '/' || "player_uuid", "field_group",
       "since", coalesce("latest_at", "since"), least("since", "latest_received_at"), coalesce("latest_received_at", "latest_at", "since"),
       greatest(1, CASE WHEN "is_held" THEN 3 ELSE 2 END - "awaits"), coalesce("run_id", '00000000-0000-0000-0000-000000000000')
  FROM "sync"."privacy_restriction" WHERE "awaits" > 0 ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO "sync"."claim" ("resource", "kind", "subject", "value", "first_at", "last_at", "first_received_at", "last_received_at", "times", "run_id")
SELECT "resource", CASE "refusal" WHEN 'hidden' THEN 'forbidden' ELSE 'gone' END, "key", CASE "refusal" WHEN 'hidden' THEN coalesce("credential", 'guest') ELSE '' END,
       "refused_since", "refused_since", "refused_since", "refused_since", 1, '00000000-0000-0000-0000-000000000000'
  FROM "sync"."work_item" WHERE "refusal" IS NOT NULL AND "refused_since" IS NOT NULL ON CONFLICT DO NOTHING;--> statement-breakpoint
ALTER TABLE "sync"."work_item" DROP COLUMN "refusal";--> statement-breakpoint
ALTER TABLE "sync"."work_item" DROP COLUMN "refused_since";--> statement-breakpoint
ALTER TABLE "sync"."work_item" DROP COLUMN "refused_times";--> statement-breakpoint
ALTER TABLE "sync"."privacy_restriction" DROP COLUMN "awaits";--> statement-breakpoint
ALTER TABLE "sync"."privacy_restriction" DROP COLUMN "latest_at";--> statement-breakpoint
ALTER TABLE "sync"."privacy_restriction" DROP COLUMN "latest_received_at";