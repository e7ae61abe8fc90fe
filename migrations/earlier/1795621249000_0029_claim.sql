-- Run once instead of 0029_claim.sql where an earlier edition of it was applied, which did not come after 0028_stored_watches.sql: what that lacked.
CREATE TABLE "sync"."watch" (
	"name" text PRIMARY KEY NOT NULL,
	"rule" jsonb NOT NULL,
	"player" text[],
	"target" jsonb NOT NULL,
	"site" text
);
