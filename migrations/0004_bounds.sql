CREATE TABLE "sync"."answer_span" (
	"resource" text NOT NULL,
	"began_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone NOT NULL,
	CONSTRAINT "answer_span_pkey" PRIMARY KEY("resource","began_at")
);
--> statement-breakpoint
CREATE INDEX "quarantine_time" ON "sync"."quarantine" USING btree ("resource","first_seen_at");--> statement-breakpoint
CREATE INDEX "run_status" ON "sync"."run" USING btree ("resource","status","started_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "raw_answer_refused" ON "sync"."raw_answer" USING btree ("resource") WHERE status in ('rejected', 'failed');--> statement-breakpoint
CREATE INDEX "player_hop_time" ON "game"."player_hop" USING brin ("latest");