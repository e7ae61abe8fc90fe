CREATE TABLE "sync"."watch_delivery" (
	"watch" text PRIMARY KEY NOT NULL,
	"number" bigint NOT NULL,
	"sending" bigint,
	"attempts" integer NOT NULL,
	"retry_at" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"error" text,
	"delivered_at" timestamp with time zone
);
