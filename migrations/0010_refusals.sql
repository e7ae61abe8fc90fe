ALTER TABLE "sync"."work_item" ADD COLUMN "refusal" text;--> statement-breakpoint
ALTER TABLE "sync"."work_item" ADD COLUMN "refused_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "sync"."work_item" ADD COLUMN "refused_times" integer;--> statement-breakpoint
CREATE INDEX "work_item_refused" ON "sync"."work_item" USING btree ("refused_since") WHERE refusal is not null;