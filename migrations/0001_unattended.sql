CREATE TABLE "sync"."backfill" (
	"backfill_id" uuid PRIMARY KEY NOT NULL,
	"resource" text NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"keys" integer NOT NULL,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "sync"."budget" (
	"account" text NOT NULL,
	"bucket" text NOT NULL,
	"state" jsonb NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "budget_pkey" PRIMARY KEY("account","bucket")
);
--> statement-breakpoint
CREATE TABLE "sync"."coverage_hour" (
	"resource" text NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"expected" integer NOT NULL,
	"observed" integer NOT NULL,
	"unchanged" integer NOT NULL,
	"partial" integer NOT NULL,
	"stale" integer NOT NULL,
	"rejected" integer NOT NULL,
	"missed" integer NOT NULL,
	CONSTRAINT "coverage_hour_pkey" PRIMARY KEY("resource","hour")
);
--> statement-breakpoint
CREATE TABLE "sync"."expectation" (
	"resource" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"every_seconds" double precision,
	"told_by" text NOT NULL,
	CONSTRAINT "expectation_pkey" PRIMARY KEY("resource","valid_from")
);
--> statement-breakpoint
CREATE TABLE "sync"."gap" (
	"resource" text NOT NULL,
	"began_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone NOT NULL,
	"missed" integer NOT NULL,
	"reason" text NOT NULL,
	CONSTRAINT "gap_pkey" PRIMARY KEY("resource","began_at")
);
--> statement-breakpoint
CREATE TABLE "sync"."guard_action" (
	"at" timestamp with time zone NOT NULL,
	"resource" text NOT NULL,
	"key" text,
	"guard" text NOT NULL,
	"reason" text NOT NULL,
	"run_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sync"."route_bucket" (
	"account" text NOT NULL,
	"route" text NOT NULL,
	"bucket" text NOT NULL,
	"learned_at" timestamp with time zone NOT NULL,
	CONSTRAINT "route_bucket_pkey" PRIMARY KEY("account","route")
);
--> statement-breakpoint
ALTER TABLE "sync"."work_item" ADD COLUMN "leased_by" text;--> statement-breakpoint
CREATE INDEX "backfill_resource" ON "sync"."backfill" USING btree ("resource","started_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "gap_end" ON "sync"."gap" USING btree ("resource","ended_at");--> statement-breakpoint
CREATE INDEX "guard_action_time" ON "sync"."guard_action" USING btree ("resource","at");