ALTER TABLE "sync"."run" ADD COLUMN "source_id" text;--> statement-breakpoint
ALTER TABLE "sync"."source" ADD COLUMN "kind" text DEFAULT 'lake' NOT NULL;--> statement-breakpoint
UPDATE "sync"."run" SET "program" = left("program", length("program") - 13),
  "source_id" = coalesce(
    (SELECT "span"."source_id" FROM "sync"."source_span" "span" WHERE "span"."resource" = "run"."resource"
        AND coalesce("run"."observed_at", "run"."started_at") BETWEEN "span"."began_at" AND "span"."ended_at" LIMIT 1),
    (SELECT min("source"."source_id") FROM "sync"."source"))
 WHERE "program" LIKE '%, from a lake';
