CREATE TABLE "sync"."web_key" (
	"name" text PRIMARY KEY NOT NULL,
	"hash" "bytea" NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "web_key_hash_unique" UNIQUE("hash")
);
