CREATE TABLE "sync"."presence" (
	"resource" text NOT NULL,
	"field" text NOT NULL,
	"had" integer NOT NULL,
	"out_of" integer NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "presence_pkey" PRIMARY KEY("resource","field")
);
--> statement-breakpoint
CREATE TABLE "sync"."unsent" (
	"resource" text NOT NULL,
	"field" text NOT NULL,
	"last_sent_at" timestamp with time zone NOT NULL,
	"from_at" timestamp with time zone NOT NULL,
	"until_at" timestamp with time zone,
	"received_from" timestamp with time zone NOT NULL,
	"received_until" timestamp with time zone,
	"had" integer NOT NULL,
	"out_of" integer NOT NULL,
	"run_id" uuid NOT NULL,
	CONSTRAINT "unsent_pkey" PRIMARY KEY("resource","field","from_at")
);
