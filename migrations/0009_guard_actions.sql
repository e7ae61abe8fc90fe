ALTER TABLE "sync"."run" ADD COLUMN "normalized" integer;--> statement-breakpoint
ALTER TABLE "sync"."guard_action" ADD COLUMN "action" text;