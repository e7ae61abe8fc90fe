CREATE SEQUENCE "sync"."raw_answer_number" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "sync"."raw_answer" (
	"answer_id" bigint NOT NULL,
	"position" smallint NOT NULL,
	"resource" text NOT NULL,
	"key" text,
	"request" text NOT NULL,
	"http_status" smallint NOT NULL,
	"headers" jsonb NOT NULL,
	"credential" text NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"observed_at" timestamp with time zone,
	"taken_at" timestamp with time zone NOT NULL,
	"status" text NOT NULL,
	"accepted" boolean DEFAULT false NOT NULL,
	"hash" "bytea" NOT NULL,
	"run_id" uuid NOT NULL,
	CONSTRAINT "raw_answer_pkey" PRIMARY KEY("answer_id","position")
);
--> statement-breakpoint
CREATE TABLE "sync"."raw_body" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"body" "bytea" NOT NULL,
	"bytes" integer NOT NULL,
	"first_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sync"."privacy_action" (
	"at" timestamp with time zone NOT NULL,
	"player_uuid" uuid,
	"player_hash" "bytea",
	"field_group" text NOT NULL,
	"policy" text NOT NULL,
	"rows" integer NOT NULL,
	"reason" text NOT NULL,
	"run_id" uuid,
	CONSTRAINT "privacy_action_whose" CHECK ((player_uuid is null) <> (player_hash is null))
);
--> statement-breakpoint
CREATE TABLE "sync"."privacy_restriction" (
	"player_uuid" uuid NOT NULL,
	"field_group" text NOT NULL,
	"told_by" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	CONSTRAINT "privacy_restriction_pkey" PRIMARY KEY("player_uuid","field_group","told_by")
);
--> statement-breakpoint
CREATE INDEX "raw_answer_key" ON "sync"."raw_answer" USING btree ("resource","key","observed_at");--> statement-breakpoint
CREATE INDEX "raw_answer_taken" ON "sync"."raw_answer" USING btree ("resource","taken_at");--> statement-breakpoint
CREATE INDEX "raw_answer_body" ON "sync"."raw_answer" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "privacy_action_player" ON "sync"."privacy_action" USING btree ("player_uuid","at");--> statement-breakpoint
CREATE INDEX "privacy_action_unnamed" ON "sync"."privacy_action" USING btree ("at") WHERE player_hash is not null;--> statement-breakpoint
CREATE INDEX "privacy_restriction_teller" ON "sync"."privacy_restriction" USING btree ("told_by");