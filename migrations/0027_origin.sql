CREATE TABLE "sync"."origin" (
	"base_url" text PRIMARY KEY NOT NULL,
	"is_sandbox" boolean NOT NULL,
	"first_at" timestamp with time zone NOT NULL
);
