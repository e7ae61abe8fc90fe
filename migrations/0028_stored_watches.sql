CREATE TABLE "sync"."watch" (
	"name" text PRIMARY KEY NOT NULL,
	"rule" jsonb NOT NULL,
	"player" text[],
	"target" jsonb NOT NULL,
	"site" text
);
