CREATE TABLE "sync"."outbox" (
	"number" bigint NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"change" jsonb NOT NULL,
	CONSTRAINT "outbox_pkey" PRIMARY KEY("number")
);
--> statement-breakpoint
CREATE TABLE "sync"."outbox_head" (
	"id" smallint PRIMARY KEY NOT NULL,
	"last" bigint NOT NULL
);
