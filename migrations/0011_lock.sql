CREATE TABLE "sync"."lock" (
	"name" text PRIMARY KEY NOT NULL,
	"session_key" bigint,
	"backend_pid" integer,
	"process_id" integer,
	"host" text,
	"application" text,
	"since" timestamp with time zone
);
