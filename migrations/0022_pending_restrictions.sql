ALTER TABLE "sync"."work_item" ADD COLUMN "credential" text;--> statement-breakpoint
ALTER TABLE "sync"."privacy_restriction" ADD COLUMN "awaits" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sync"."privacy_restriction" ADD COLUMN "is_held" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "sync"."privacy_restriction" ADD COLUMN "latest_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "sync"."privacy_restriction" ADD COLUMN "credential" text;--> statement-breakpoint
ALTER TABLE "sync"."privacy_restriction" ADD COLUMN "needs_credential" text;--> statement-breakpoint
ALTER TABLE "sync"."privacy_restriction" ADD COLUMN "run_id" uuid;