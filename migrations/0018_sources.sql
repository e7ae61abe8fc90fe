CREATE TABLE "sync"."source" (
	"source_id" text PRIMARY KEY NOT NULL,
	"place" text NOT NULL,
	"program" text NOT NULL,
	"exported_at" timestamp with time zone NOT NULL,
	"taken_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "sync"."source_conflict" (
	"source_id" text NOT NULL,
	"table_name" text NOT NULL,
	"key" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone NOT NULL,
	"observations" integer NOT NULL,
	CONSTRAINT "source_conflict_pkey" PRIMARY KEY("source_id","table_name","key","valid_from")
);
--> statement-breakpoint
CREATE TABLE "sync"."source_file" (
	"source_id" text NOT NULL,
	"sha256" text NOT NULL,
	"table_name" text NOT NULL,
	"taken_at" timestamp with time zone NOT NULL,
	"rows" bigint NOT NULL,
	"taken" bigint NOT NULL,
	"refused" bigint NOT NULL,
	CONSTRAINT "source_file_pkey" PRIMARY KEY("source_id","sha256")
);
--> statement-breakpoint
CREATE TABLE "sync"."source_span" (
	"source_id" text NOT NULL,
	"resource" text NOT NULL,
	"began_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone NOT NULL,
	CONSTRAINT "source_span_pkey" PRIMARY KEY("source_id","resource","began_at")
);
--> statement-breakpoint
CREATE TABLE "sync"."source_version" (
	"source_id" text NOT NULL,
	"table_name" text NOT NULL,
	"key" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	CONSTRAINT "source_version_pkey" PRIMARY KEY("table_name","key","valid_from")
);
--> statement-breakpoint
CREATE INDEX "source_span_time" ON "sync"."source_span" USING btree ("resource","began_at");