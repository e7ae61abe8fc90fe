CREATE TABLE "sync"."tombstone" (
	"resource" text NOT NULL,
	"key" text NOT NULL,
	"valid_until" timestamp with time zone NOT NULL,
	"confirmed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "tombstone_pkey" PRIMARY KEY("resource","key")
);
--> statement-breakpoint
ALTER TABLE "sync"."absence" ADD COLUMN "first_received_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "sync"."absence" ADD COLUMN "last_received_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "tombstone_time" ON "sync"."tombstone" USING btree ("resource","confirmed_at");