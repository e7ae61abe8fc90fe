-- Run once instead of 0000_foundation.sql where an earlier edition of it was applied: what that edition lacked.
ALTER TABLE "game"."item_ingredient" RENAME COLUMN "left" TO "on_left";
ALTER TABLE "game"."item_ingredient" RENAME COLUMN "right" TO "on_right";
ALTER TABLE "game"."item_ingredient" RENAME COLUMN "above" TO "on_above";
ALTER TABLE "game"."item_ingredient" RENAME COLUMN "under" TO "on_under";
ALTER TABLE "game"."item_ingredient" RENAME COLUMN "touching" TO "on_touching";
ALTER TABLE "game"."item_ingredient" RENAME COLUMN "not_touching" TO "on_not_touching";
CREATE TABLE "sync"."observation" (
	"resource" text NOT NULL,
	"key" text NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"observed_at" timestamp with time zone,
	"status" text NOT NULL,
	"reason" text,
	"run_id" uuid NOT NULL
);
CREATE TABLE "sync"."work_item" (
	"resource" text NOT NULL,
	"key" text NOT NULL,
	"weight" real DEFAULT 1 NOT NULL,
	"first_observed_at" timestamp with time zone,
	"observed_at" timestamp with time zone,
	"content_hash" "bytea",
	"records" integer,
	"checked_at" timestamp with time zone,
	"leased_until" timestamp with time zone,
	"gone_at" timestamp with time zone,
	CONSTRAINT "work_item_pkey" PRIMARY KEY("resource","key")
);
CREATE TABLE "game"."guild_listing" (
	"guild_uuid" uuid NOT NULL,
	"name" text,
	"prefix" text,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "guild_listing_pkey" PRIMARY KEY("guild_uuid","valid_from"),
	CONSTRAINT "guild_listing_end" UNIQUE("guild_uuid","valid_until"),
	CONSTRAINT "guild_listing_start" UNIQUE NULLS NOT DISTINCT("guild_uuid","previous_until"),
	CONSTRAINT "guild_listing_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "guild_listing_after" CHECK ("previous_until" <= "valid_from")
);
CREATE TABLE "game"."guild" (
	"guild_uuid" uuid NOT NULL,
	"name" text,
	"prefix" text,
	"created_at" timestamp with time zone,
	"banner_base" text,
	"banner_tier" integer,
	"banner_structure" text,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "guild_pkey" PRIMARY KEY("guild_uuid","valid_from"),
	CONSTRAINT "guild_end" UNIQUE("guild_uuid","valid_until"),
	CONSTRAINT "guild_start" UNIQUE NULLS NOT DISTINCT("guild_uuid","previous_until"),
	CONSTRAINT "guild_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "guild_after" CHECK ("previous_until" <= "valid_from")
);
CREATE TABLE "game"."guild_banner_layer" (
	"guild_uuid" uuid NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"colour" text,
	"pattern" text,
	CONSTRAINT "guild_banner_layer_pkey" PRIMARY KEY("guild_uuid","valid_from","position")
);
CREATE TABLE "game"."guild_member" (
	"guild_uuid" uuid NOT NULL,
	"player_uuid" uuid NOT NULL,
	"username" text,
	"rank" text NOT NULL,
	"joined" timestamp with time zone,
	"restricted" text[],
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "guild_member_pkey" PRIMARY KEY("guild_uuid","player_uuid","valid_from"),
	CONSTRAINT "guild_member_end" UNIQUE("guild_uuid","player_uuid","valid_until"),
	CONSTRAINT "guild_member_start" UNIQUE NULLS NOT DISTINCT("guild_uuid","player_uuid","previous_until"),
	CONSTRAINT "guild_member_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "guild_member_after" CHECK ("previous_until" <= "valid_from")
);
CREATE TABLE "game"."guild_ranking" (
	"guild_uuid" uuid NOT NULL,
	"board" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"position" integer,
	CONSTRAINT "guild_ranking_pkey" PRIMARY KEY("guild_uuid","board","observed_at")
);
CREATE TABLE "game"."guild_sample" (
	"guild_uuid" uuid NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"level" integer,
	"xp_percent" real,
	"territories" integer,
	"wars" bigint,
	"raids" bigint,
	"members" integer,
	"online" integer,
	"online_listed" integer,
	"hidden" integer,
	CONSTRAINT "guild_sample_pkey" PRIMARY KEY("guild_uuid","observed_at")
);
CREATE TABLE "game"."guild_season" (
	"guild_uuid" uuid NOT NULL,
	"season" integer NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"rating" bigint,
	"final_territories" integer,
	CONSTRAINT "guild_season_pkey" PRIMARY KEY("guild_uuid","season","observed_at")
);
CREATE TABLE "game"."member_counter" (
	"guild_uuid" uuid NOT NULL,
	"player_uuid" uuid NOT NULL,
	"counter" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"value" double precision,
	CONSTRAINT "member_counter_pkey" PRIMARY KEY("guild_uuid","counter","player_uuid","observed_at")
);
CREATE TABLE "game"."member_presence" (
	"guild_uuid" uuid NOT NULL,
	"player_uuid" uuid NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"online" boolean,
	"server" text,
	"last_join" timestamp with time zone,
	CONSTRAINT "member_presence_pkey" PRIMARY KEY("guild_uuid","player_uuid","observed_at")
);
CREATE TABLE "game"."online_sample" (
	"observed_at" timestamp with time zone NOT NULL,
	"total" integer,
	"listed" integer NOT NULL,
	"hidden" integer,
	CONSTRAINT "online_sample_pkey" PRIMARY KEY("observed_at")
);
CREATE TABLE "game"."player_hop" (
	"player_uuid" uuid NOT NULL,
	"from_world" text NOT NULL,
	"to_world" text NOT NULL,
	"earliest" timestamp with time zone NOT NULL,
	"latest" timestamp with time zone NOT NULL,
	CONSTRAINT "player_hop_pkey" PRIMARY KEY("player_uuid","latest")
);
CREATE TABLE "game"."player_listing" (
	"player_uuid" uuid NOT NULL,
	"first_listed_at" timestamp with time zone NOT NULL,
	"last_unlisted_at" timestamp with time zone,
	"last_listed_at" timestamp with time zone,
	"first_unlisted_at" timestamp with time zone,
	"login_earliest" timestamp with time zone,
	"logout_latest" timestamp with time zone,
	"world" text,
	"last_world" text,
	CONSTRAINT "player_listing_pkey" PRIMARY KEY("player_uuid","first_listed_at")
);
CREATE TABLE "game"."world" (
	"world" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "world_pkey" PRIMARY KEY("world","valid_from"),
	CONSTRAINT "world_end" UNIQUE("world","valid_until"),
	CONSTRAINT "world_start" UNIQUE NULLS NOT DISTINCT("world","previous_until"),
	CONSTRAINT "world_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "world_after" CHECK ("previous_until" <= "valid_from")
);
CREATE TABLE "game"."world_sample" (
	"world" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"online" integer NOT NULL,
	CONSTRAINT "world_sample_pkey" PRIMARY KEY("world","observed_at")
);
CREATE TABLE "game"."character_counter" (
	"player_uuid" uuid NOT NULL,
	"character_uuid" uuid NOT NULL,
	"counter" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"value" double precision NOT NULL,
	CONSTRAINT "character_counter_pkey" PRIMARY KEY("player_uuid","character_uuid","counter","observed_at")
);
CREATE TABLE "game"."character_profession" (
	"player_uuid" uuid NOT NULL,
	"character_uuid" uuid NOT NULL,
	"profession" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"level" integer,
	"xp_percent" double precision,
	CONSTRAINT "character_profession_pkey" PRIMARY KEY("player_uuid","character_uuid","profession","observed_at")
);
CREATE TABLE "game"."character_quest" (
	"player_uuid" uuid NOT NULL,
	"character_uuid" uuid NOT NULL,
	"quest" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"done" boolean NOT NULL,
	CONSTRAINT "character_quest_pkey" PRIMARY KEY("player_uuid","character_uuid","quest","observed_at")
);
CREATE TABLE "game"."player" (
	"player_uuid" uuid NOT NULL,
	"username" text,
	"nickname" text,
	"rank" text,
	"rank_badge" text,
	"shortened_rank" text,
	"support_rank" text,
	"rank_colour" text,
	"rank_colour_sub" text,
	"veteran" boolean,
	"first_join" timestamp with time zone,
	"guild_uuid" uuid,
	"guild_name" text,
	"guild_prefix" text,
	"guild_rank" text,
	"guild_rank_stars" text,
	"wallpaper" text,
	"avatar" text,
	"restricted" text[],
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "player_pkey" PRIMARY KEY("player_uuid","valid_from"),
	CONSTRAINT "player_end" UNIQUE("player_uuid","valid_until"),
	CONSTRAINT "player_start" UNIQUE NULLS NOT DISTINCT("player_uuid","previous_until"),
	CONSTRAINT "player_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "player_after" CHECK ("previous_until" <= "valid_from")
);
CREATE TABLE "game"."player_character" (
	"player_uuid" uuid NOT NULL,
	"character_uuid" uuid NOT NULL,
	"type" text,
	"reskin" text,
	"nickname" text,
	"level" integer,
	"gamemodes" text[],
	"died" boolean,
	"pre_economy" boolean,
	"restricted" text[],
	"removed_stats" text[],
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "player_character_pkey" PRIMARY KEY("player_uuid","character_uuid","valid_from"),
	CONSTRAINT "player_character_end" UNIQUE("player_uuid","character_uuid","valid_until"),
	CONSTRAINT "player_character_start" UNIQUE NULLS NOT DISTINCT("player_uuid","character_uuid","previous_until"),
	CONSTRAINT "player_character_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "player_character_after" CHECK ("previous_until" <= "valid_from")
);
CREATE TABLE "game"."player_counter" (
	"player_uuid" uuid NOT NULL,
	"counter" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"value" double precision NOT NULL,
	CONSTRAINT "player_counter_pkey" PRIMARY KEY("player_uuid","counter","observed_at")
);
CREATE TABLE "game"."player_ranking" (
	"player_uuid" uuid NOT NULL,
	"board" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	CONSTRAINT "player_ranking_pkey" PRIMARY KEY("player_uuid","board","observed_at")
);
CREATE TABLE "game"."player_status" (
	"player_uuid" uuid NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"online" boolean,
	"world" text,
	"last_join" timestamp with time zone,
	"active_character" uuid,
	CONSTRAINT "player_status_pkey" PRIMARY KEY("player_uuid","observed_at")
);
CREATE TABLE "game"."season" (
	"season" integer NOT NULL,
	"started_at" timestamp with time zone,
	"ends_at" timestamp with time zone,
	"territory_holding_sr_per_hour" bigint,
	"sr_per_war" bigint,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "season_pkey" PRIMARY KEY("season","valid_from"),
	CONSTRAINT "season_end" UNIQUE("season","valid_until"),
	CONSTRAINT "season_start" UNIQUE NULLS NOT DISTINCT("season","previous_until"),
	CONSTRAINT "season_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "season_after" CHECK ("previous_until" <= "valid_from")
);
CREATE TABLE "game"."season_reward" (
	"season" integer NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"list" text NOT NULL,
	"position" integer NOT NULL,
	"condition_type" text,
	"condition_value" bigint,
	"reward_type" text,
	"reward_value" text,
	"expires_at" timestamp with time zone,
	CONSTRAINT "season_reward_pkey" PRIMARY KEY("season","valid_from","list","position")
);
CREATE TABLE "game"."territory" (
	"territory" text NOT NULL,
	"min_x" integer,
	"min_z" integer,
	"max_x" integer,
	"max_z" integer,
	"is_hq" boolean,
	"treasury" text,
	"defences" text,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "territory_pkey" PRIMARY KEY("territory","valid_from"),
	CONSTRAINT "territory_end" UNIQUE("territory","valid_until"),
	CONSTRAINT "territory_start" UNIQUE NULLS NOT DISTINCT("territory","previous_until"),
	CONSTRAINT "territory_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "territory_after" CHECK ("previous_until" <= "valid_from")
);
CREATE TABLE "game"."territory_hold" (
	"territory" text NOT NULL,
	"guild_uuid" uuid,
	"guild_name" text,
	"guild_prefix" text,
	"acquired" timestamp with time zone,
	"observed_at" timestamp with time zone NOT NULL,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "territory_hold_pkey" PRIMARY KEY("territory","valid_from"),
	CONSTRAINT "territory_hold_end" UNIQUE("territory","valid_until"),
	CONSTRAINT "territory_hold_start" UNIQUE NULLS NOT DISTINCT("territory","previous_until"),
	CONSTRAINT "territory_hold_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "territory_hold_after" CHECK ("previous_until" <= "valid_from")
);
CREATE TABLE "game"."territory_link" (
	"territory" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"links_to" text NOT NULL,
	CONSTRAINT "territory_link_pkey" PRIMARY KEY("territory","valid_from","position")
);
CREATE TABLE "game"."territory_resource" (
	"territory" text NOT NULL,
	"resource" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"generation" bigint,
	"base_generation" bigint,
	"stored" bigint,
	"storage_limit" bigint,
	CONSTRAINT "territory_resource_pkey" PRIMARY KEY("territory","resource","observed_at")
);
ALTER TABLE "game"."guild_listing" ADD CONSTRAINT "guild_listing_chain" FOREIGN KEY ("guild_uuid","previous_until") REFERENCES "game"."guild_listing"("guild_uuid","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "game"."guild" ADD CONSTRAINT "guild_chain" FOREIGN KEY ("guild_uuid","previous_until") REFERENCES "game"."guild"("guild_uuid","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "game"."guild_banner_layer" ADD CONSTRAINT "guild_banner_layer_root" FOREIGN KEY ("guild_uuid","valid_from") REFERENCES "game"."guild"("guild_uuid","valid_from") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "game"."guild_member" ADD CONSTRAINT "guild_member_chain" FOREIGN KEY ("guild_uuid","player_uuid","previous_until") REFERENCES "game"."guild_member"("guild_uuid","player_uuid","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "game"."world" ADD CONSTRAINT "world_chain" FOREIGN KEY ("world","previous_until") REFERENCES "game"."world"("world","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "game"."player" ADD CONSTRAINT "player_chain" FOREIGN KEY ("player_uuid","previous_until") REFERENCES "game"."player"("player_uuid","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "game"."player_character" ADD CONSTRAINT "player_character_chain" FOREIGN KEY ("player_uuid","character_uuid","previous_until") REFERENCES "game"."player_character"("player_uuid","character_uuid","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "game"."season" ADD CONSTRAINT "season_chain" FOREIGN KEY ("season","previous_until") REFERENCES "game"."season"("season","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "game"."season_reward" ADD CONSTRAINT "season_reward_root" FOREIGN KEY ("season","valid_from") REFERENCES "game"."season"("season","valid_from") ON DELETE cascade ON UPDATE no action;
ALTER TABLE "game"."territory" ADD CONSTRAINT "territory_chain" FOREIGN KEY ("territory","previous_until") REFERENCES "game"."territory"("territory","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "game"."territory_hold" ADD CONSTRAINT "territory_hold_chain" FOREIGN KEY ("territory","previous_until") REFERENCES "game"."territory_hold"("territory","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE "game"."territory_link" ADD CONSTRAINT "territory_link_root" FOREIGN KEY ("territory","valid_from") REFERENCES "game"."territory"("territory","valid_from") ON DELETE cascade ON UPDATE no action;
CREATE INDEX "observation_key" ON "sync"."observation" USING btree ("resource","key","observed_at");
CREATE INDEX "guild_listing_name" ON "game"."guild_listing" USING btree ("name");
CREATE INDEX "guild_listing_prefix" ON "game"."guild_listing" USING btree ("prefix");
CREATE INDEX "guild_member_player" ON "game"."guild_member" USING btree ("player_uuid","valid_from");
CREATE INDEX "guild_season_season" ON "game"."guild_season" USING btree ("season");
CREATE INDEX "member_presence_player" ON "game"."member_presence" USING btree ("player_uuid","observed_at");
CREATE INDEX "online_sample_nobody_hidden" ON "game"."online_sample" USING btree ("observed_at") WHERE hidden = 0;
CREATE UNIQUE INDEX "player_listing_open" ON "game"."player_listing" USING btree ("player_uuid") WHERE last_listed_at is null;
CREATE INDEX "player_listing_begun" ON "game"."player_listing" USING btree ("first_listed_at");
CREATE INDEX "player_listing_left" ON "game"."player_listing" USING btree ("last_listed_at");
CREATE INDEX "player_username" ON "game"."player" USING btree ("username");
CREATE INDEX "player_guild" ON "game"."player" USING btree ("guild_uuid","valid_from");
CREATE INDEX "territory_hold_guild" ON "game"."territory_hold" USING btree ("guild_uuid","valid_from");
