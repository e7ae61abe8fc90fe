ALTER TABLE "sync"."run" ADD COLUMN "reload" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "sync"."work_item" ADD COLUMN "reload" boolean DEFAULT false NOT NULL;