CREATE TABLE "sync"."claim" (
	"resource" text NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"value" text NOT NULL,
	"first_at" timestamp with time zone NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	"first_received_at" timestamp with time zone NOT NULL,
	"last_received_at" timestamp with time zone NOT NULL,
	"times" integer NOT NULL,
	"run_id" uuid NOT NULL,
	CONSTRAINT "claim_pkey" PRIMARY KEY("resource","kind","subject","value")
);
--> statement-breakpoint
DROP TABLE "sync"."absence" CASCADE;--> statement-breakpoint
DROP TABLE "sync"."unconfirmed_version" CASCADE;