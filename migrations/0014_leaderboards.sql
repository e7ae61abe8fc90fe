CREATE TABLE "game"."leaderboard" (
	"type" text NOT NULL,
	"kind" text,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "leaderboard_pkey" PRIMARY KEY("type","valid_from"),
	CONSTRAINT "leaderboard_end" UNIQUE("type","valid_until"),
	CONSTRAINT "leaderboard_start" UNIQUE NULLS NOT DISTINCT("type","previous_until"),
	CONSTRAINT "leaderboard_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "leaderboard_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."leaderboard_place" (
	"type" text NOT NULL,
	"place" integer NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"guild_uuid" uuid,
	"player_uuid" uuid,
	"character_uuid" uuid,
	"name" text,
	"score" double precision,
	"meta_score" double precision,
	"reason" text,
	CONSTRAINT "leaderboard_place_pkey" PRIMARY KEY("type","place","observed_at")
) PARTITION BY RANGE ("observed_at");
--> statement-breakpoint
CREATE TABLE "partitions"."leaderboard_place_rest" PARTITION OF "game"."leaderboard_place" DEFAULT;
--> statement-breakpoint
ALTER TABLE "game"."leaderboard" ADD CONSTRAINT "leaderboard_chain" FOREIGN KEY ("type","previous_until") REFERENCES "game"."leaderboard"("type","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
CREATE INDEX "leaderboard_place_player" ON "game"."leaderboard_place" USING btree ("player_uuid","type","observed_at") WHERE "game"."leaderboard_place"."player_uuid" is not null;--> statement-breakpoint
CREATE INDEX "leaderboard_place_guild" ON "game"."leaderboard_place" USING btree ("guild_uuid","type","observed_at") WHERE "game"."leaderboard_place"."guild_uuid" is not null;--> statement-breakpoint
CREATE INDEX "leaderboard_place_name" ON "game"."leaderboard_place" USING btree ("name","type");--> statement-breakpoint
CREATE INDEX "leaderboard_place_time" ON "game"."leaderboard_place" USING brin ("observed_at");