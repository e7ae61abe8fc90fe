CREATE SCHEMA "game";
--> statement-breakpoint
CREATE SCHEMA "sync";
--> statement-breakpoint
CREATE TABLE "sync"."absence" (
	"resource" text NOT NULL,
	"key" text NOT NULL,
	"first_missed_at" timestamp with time zone NOT NULL,
	"last_missed_at" timestamp with time zone NOT NULL,
	"times" integer NOT NULL,
	CONSTRAINT "absence_key" UNIQUE("resource","key")
);
--> statement-breakpoint
CREATE TABLE "sync"."drift" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."drift_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"resource" text NOT NULL,
	"kind" text NOT NULL,
	"path" text NOT NULL,
	"member" text NOT NULL,
	"key" text NOT NULL,
	"example" jsonb,
	"first_seen_at" timestamp with time zone NOT NULL,
	"run_id" uuid NOT NULL,
	CONSTRAINT "drift_once" UNIQUE("resource","kind","path","member")
);
--> statement-breakpoint
CREATE TABLE "game"."field_change" (
	"resource" text NOT NULL,
	"key" text NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"path" text NOT NULL,
	"old_value" jsonb,
	"new_value" jsonb,
	"is_revert" boolean NOT NULL,
	CONSTRAINT "field_change_once" UNIQUE("resource","key","path","changed_at")
);
--> statement-breakpoint
CREATE TABLE "sync"."observation" (
	"resource" text NOT NULL,
	"key" text NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"observed_at" timestamp with time zone,
	"status" text NOT NULL,
	"reason" text,
	"run_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sync"."quarantine" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "sync"."quarantine_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"resource" text NOT NULL,
	"key" text,
	"path" text NOT NULL,
	"reason" text NOT NULL,
	"raw" json NOT NULL,
	"raw_hash" "bytea" NOT NULL,
	"first_seen_at" timestamp with time zone NOT NULL,
	"run_id" uuid NOT NULL,
	CONSTRAINT "quarantine_record" UNIQUE("resource","raw_hash")
);
--> statement-breakpoint
CREATE TABLE "sync"."run" (
	"run_id" uuid PRIMARY KEY NOT NULL,
	"resource" text NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"started_at" timestamp with time zone NOT NULL,
	"finished_at" timestamp with time zone NOT NULL,
	"observed_from" timestamp with time zone,
	"observed_at" timestamp with time zone,
	"complete" boolean,
	"requests" integer DEFAULT 0 NOT NULL,
	"pages" integer DEFAULT 0 NOT NULL,
	"records" integer DEFAULT 0 NOT NULL,
	"inserted" integer DEFAULT 0 NOT NULL,
	"changed" integer DEFAULT 0 NOT NULL,
	"closed" integer DEFAULT 0 NOT NULL,
	"unchanged" integer DEFAULT 0 NOT NULL,
	"events" integer DEFAULT 0 NOT NULL,
	"rejected" integer DEFAULT 0 NOT NULL,
	"quarantined" integer DEFAULT 0 NOT NULL,
	"living" integer,
	"content_hash" "bytea",
	"error" text,
	"program" text NOT NULL
);
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "game"."guild_banner_layer" (
	"guild_uuid" uuid NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"colour" text,
	"pattern" text,
	CONSTRAINT "guild_banner_layer_pkey" PRIMARY KEY("guild_uuid","valid_from","position")
);
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "game"."guild_ranking" (
	"guild_uuid" uuid NOT NULL,
	"board" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"position" integer,
	CONSTRAINT "guild_ranking_pkey" PRIMARY KEY("guild_uuid","board","observed_at")
);
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "game"."guild_season" (
	"guild_uuid" uuid NOT NULL,
	"season" integer NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"rating" bigint,
	"final_territories" integer,
	CONSTRAINT "guild_season_pkey" PRIMARY KEY("guild_uuid","season","observed_at")
);
--> statement-breakpoint
CREATE TABLE "game"."member_counter" (
	"guild_uuid" uuid NOT NULL,
	"player_uuid" uuid NOT NULL,
	"counter" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"value" double precision,
	CONSTRAINT "member_counter_pkey" PRIMARY KEY("guild_uuid","counter","player_uuid","observed_at")
);
--> statement-breakpoint
CREATE TABLE "game"."member_presence" (
	"guild_uuid" uuid NOT NULL,
	"player_uuid" uuid NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"online" boolean,
	"server" text,
	"last_join" timestamp with time zone,
	CONSTRAINT "member_presence_pkey" PRIMARY KEY("guild_uuid","player_uuid","observed_at")
);
--> statement-breakpoint
CREATE TABLE "game"."enumeration" (
	"path" text NOT NULL,
	"list" text NOT NULL,
	"member" text NOT NULL,
	"number" integer,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "enumeration_pkey" PRIMARY KEY("path","valid_from"),
	CONSTRAINT "enumeration_end" UNIQUE("path","valid_until"),
	CONSTRAINT "enumeration_start" UNIQUE NULLS NOT DISTINCT("path","previous_until"),
	CONSTRAINT "enumeration_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "enumeration_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."item_set" (
	"name" text NOT NULL,
	"internal_name" text,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "item_set_pkey" PRIMARY KEY("name","valid_from"),
	CONSTRAINT "item_set_end" UNIQUE("name","valid_until"),
	CONSTRAINT "item_set_start" UNIQUE NULLS NOT DISTINCT("name","previous_until"),
	CONSTRAINT "item_set_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "item_set_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."item_set_bonus" (
	"name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"pieces" integer NOT NULL,
	"identification" text NOT NULL,
	"value" bigint NOT NULL,
	CONSTRAINT "item_set_bonus_pkey" PRIMARY KEY("name","valid_from","pieces","identification")
);
--> statement-breakpoint
CREATE TABLE "game"."item_set_part" (
	"name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"display_name" text NOT NULL,
	CONSTRAINT "item_set_part_pkey" PRIMARY KEY("name","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."item" (
	"internal_name" text NOT NULL,
	"display_name" text NOT NULL,
	"type" text NOT NULL,
	"sub_type" text,
	"tier" text,
	"level" integer,
	"class_requirement" text,
	"quest" text,
	"strength" integer,
	"dexterity" integer,
	"intelligence" integer,
	"defence" integer,
	"agility" integer,
	"attack_speed" text,
	"average_dps" bigint,
	"powder_slots" integer,
	"gathering_speed" integer,
	"durability" integer,
	"restriction" text,
	"drop_restriction" text,
	"identified" boolean,
	"allow_craftsman" boolean,
	"drop_name" text,
	"drop_event" text,
	"lore" text,
	"emblem" text,
	"icon_format" text,
	"icon_id" text,
	"icon_name" text,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "item_pkey" PRIMARY KEY("internal_name","valid_from"),
	CONSTRAINT "item_end" UNIQUE("internal_name","valid_until"),
	CONSTRAINT "item_start" UNIQUE NULLS NOT DISTINCT("internal_name","previous_until"),
	CONSTRAINT "item_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "item_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."item_base" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"stat" text NOT NULL,
	"raw" bigint,
	"min" bigint NOT NULL,
	"max" bigint NOT NULL,
	"is_fixed" boolean NOT NULL,
	CONSTRAINT "item_base_pkey" PRIMARY KEY("internal_name","valid_from","stat")
);
--> statement-breakpoint
CREATE TABLE "game"."item_drop_place" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"source" text NOT NULL,
	"position" integer NOT NULL,
	"place" integer NOT NULL,
	"name" text,
	"x" double precision,
	"y" double precision,
	"z" double precision,
	"radius" double precision,
	CONSTRAINT "item_drop_place_pkey" PRIMARY KEY("internal_name","valid_from","source","position","place")
);
--> statement-breakpoint
CREATE TABLE "game"."item_drop_type" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"drop_type" text NOT NULL,
	CONSTRAINT "item_drop_type_pkey" PRIMARY KEY("internal_name","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."item_element" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"element" text NOT NULL,
	CONSTRAINT "item_element_pkey" PRIMARY KEY("internal_name","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."item_identification" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"identification" text NOT NULL,
	"raw" bigint,
	"min" bigint NOT NULL,
	"max" bigint NOT NULL,
	"is_fixed" boolean NOT NULL,
	CONSTRAINT "item_identification_pkey" PRIMARY KEY("internal_name","valid_from","identification")
);
--> statement-breakpoint
CREATE TABLE "game"."item_in_set" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"set_name" text NOT NULL,
	CONSTRAINT "item_in_set_pkey" PRIMARY KEY("internal_name","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."item_ingredient" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"charges" integer,
	"duration" integer,
	"durability_modifier" integer,
	"strength_requirement" integer,
	"dexterity_requirement" integer,
	"intelligence_requirement" integer,
	"defence_requirement" integer,
	"agility_requirement" integer,
	"on_left" integer,
	"on_right" integer,
	"on_above" integer,
	"on_under" integer,
	"on_touching" integer,
	"on_not_touching" integer,
	CONSTRAINT "item_ingredient_pkey" PRIMARY KEY("internal_name","valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."item_major_id" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"major_id" text NOT NULL,
	"description" text NOT NULL,
	CONSTRAINT "item_major_id_pkey" PRIMARY KEY("internal_name","valid_from","major_id")
);
--> statement-breakpoint
CREATE TABLE "game"."item_material_chance" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"tier" text NOT NULL,
	"percent" integer NOT NULL,
	CONSTRAINT "item_material_chance_pkey" PRIMARY KEY("internal_name","valid_from","tier")
);
--> statement-breakpoint
CREATE TABLE "game"."item_skill" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"skill" text NOT NULL,
	CONSTRAINT "item_skill_pkey" PRIMARY KEY("internal_name","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."online_sample" (
	"observed_at" timestamp with time zone NOT NULL,
	"total" integer,
	"listed" integer NOT NULL,
	"hidden" integer,
	CONSTRAINT "online_sample_pkey" PRIMARY KEY("observed_at")
);
--> statement-breakpoint
CREATE TABLE "game"."player_hop" (
	"player_uuid" uuid NOT NULL,
	"from_world" text NOT NULL,
	"to_world" text NOT NULL,
	"earliest" timestamp with time zone NOT NULL,
	"latest" timestamp with time zone NOT NULL,
	CONSTRAINT "player_hop_pkey" PRIMARY KEY("player_uuid","latest")
);
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "game"."world_sample" (
	"world" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"online" integer NOT NULL,
	CONSTRAINT "world_sample_pkey" PRIMARY KEY("world","observed_at")
);
--> statement-breakpoint
CREATE TABLE "game"."character_counter" (
	"player_uuid" uuid NOT NULL,
	"character_uuid" uuid NOT NULL,
	"counter" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"value" double precision NOT NULL,
	CONSTRAINT "character_counter_pkey" PRIMARY KEY("player_uuid","character_uuid","counter","observed_at")
);
--> statement-breakpoint
CREATE TABLE "game"."character_profession" (
	"player_uuid" uuid NOT NULL,
	"character_uuid" uuid NOT NULL,
	"profession" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"level" integer,
	"xp_percent" double precision,
	CONSTRAINT "character_profession_pkey" PRIMARY KEY("player_uuid","character_uuid","profession","observed_at")
);
--> statement-breakpoint
CREATE TABLE "game"."character_quest" (
	"player_uuid" uuid NOT NULL,
	"character_uuid" uuid NOT NULL,
	"quest" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"done" boolean NOT NULL,
	CONSTRAINT "character_quest_pkey" PRIMARY KEY("player_uuid","character_uuid","quest","observed_at")
);
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "game"."player_counter" (
	"player_uuid" uuid NOT NULL,
	"counter" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"value" double precision NOT NULL,
	CONSTRAINT "player_counter_pkey" PRIMARY KEY("player_uuid","counter","observed_at")
);
--> statement-breakpoint
CREATE TABLE "game"."player_ranking" (
	"player_uuid" uuid NOT NULL,
	"board" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	CONSTRAINT "player_ranking_pkey" PRIMARY KEY("player_uuid","board","observed_at")
);
--> statement-breakpoint
CREATE TABLE "game"."player_status" (
	"player_uuid" uuid NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"online" boolean,
	"world" text,
	"last_join" timestamp with time zone,
	"active_character" uuid,
	CONSTRAINT "player_status_pkey" PRIMARY KEY("player_uuid","observed_at")
);
--> statement-breakpoint
CREATE TABLE "game"."recipe" (
	"internal_name" text NOT NULL,
	"type" text NOT NULL,
	"skill" text,
	"level_min" integer,
	"level_max" integer,
	"xp" integer,
	"health_or_damage_min" integer,
	"health_or_damage_max" integer,
	"durability_min" integer,
	"durability_max" integer,
	"duration_min" integer,
	"duration_max" integer,
	"basic_duration_min" integer,
	"basic_duration_max" integer,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "recipe_pkey" PRIMARY KEY("internal_name","valid_from"),
	CONSTRAINT "recipe_end" UNIQUE("internal_name","valid_until"),
	CONSTRAINT "recipe_start" UNIQUE NULLS NOT DISTINCT("internal_name","previous_until"),
	CONSTRAINT "recipe_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "recipe_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."recipe_material" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"item" text,
	"amount" integer,
	CONSTRAINT "recipe_material_pkey" PRIMARY KEY("internal_name","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."recipe_sprite" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"variant" text NOT NULL,
	"format" text,
	"icon_id" text,
	"icon_name" text,
	"name" text,
	CONSTRAINT "recipe_sprite_pkey" PRIMARY KEY("internal_name","valid_from","variant")
);
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE "game"."territory_link" (
	"territory" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"links_to" text NOT NULL,
	CONSTRAINT "territory_link_pkey" PRIMARY KEY("territory","valid_from","position")
);
--> statement-breakpoint
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
--> statement-breakpoint
ALTER TABLE "game"."guild_listing" ADD CONSTRAINT "guild_listing_chain" FOREIGN KEY ("guild_uuid","previous_until") REFERENCES "game"."guild_listing"("guild_uuid","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."guild" ADD CONSTRAINT "guild_chain" FOREIGN KEY ("guild_uuid","previous_until") REFERENCES "game"."guild"("guild_uuid","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."guild_banner_layer" ADD CONSTRAINT "guild_banner_layer_root" FOREIGN KEY ("guild_uuid","valid_from") REFERENCES "game"."guild"("guild_uuid","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."guild_member" ADD CONSTRAINT "guild_member_chain" FOREIGN KEY ("guild_uuid","player_uuid","previous_until") REFERENCES "game"."guild_member"("guild_uuid","player_uuid","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."enumeration" ADD CONSTRAINT "enumeration_chain" FOREIGN KEY ("path","previous_until") REFERENCES "game"."enumeration"("path","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."item_set" ADD CONSTRAINT "item_set_chain" FOREIGN KEY ("name","previous_until") REFERENCES "game"."item_set"("name","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."item_set_bonus" ADD CONSTRAINT "item_set_bonus_root" FOREIGN KEY ("name","valid_from") REFERENCES "game"."item_set"("name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."item_set_part" ADD CONSTRAINT "item_set_part_root" FOREIGN KEY ("name","valid_from") REFERENCES "game"."item_set"("name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."item" ADD CONSTRAINT "item_chain" FOREIGN KEY ("internal_name","previous_until") REFERENCES "game"."item"("internal_name","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."item_base" ADD CONSTRAINT "item_base_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."item"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."item_drop_place" ADD CONSTRAINT "item_drop_place_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."item"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."item_drop_type" ADD CONSTRAINT "item_drop_type_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."item"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."item_element" ADD CONSTRAINT "item_element_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."item"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."item_identification" ADD CONSTRAINT "item_identification_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."item"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."item_in_set" ADD CONSTRAINT "item_in_set_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."item"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."item_ingredient" ADD CONSTRAINT "item_ingredient_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."item"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."item_major_id" ADD CONSTRAINT "item_major_id_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."item"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."item_material_chance" ADD CONSTRAINT "item_material_chance_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."item"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."item_skill" ADD CONSTRAINT "item_skill_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."item"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."world" ADD CONSTRAINT "world_chain" FOREIGN KEY ("world","previous_until") REFERENCES "game"."world"("world","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."player" ADD CONSTRAINT "player_chain" FOREIGN KEY ("player_uuid","previous_until") REFERENCES "game"."player"("player_uuid","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."player_character" ADD CONSTRAINT "player_character_chain" FOREIGN KEY ("player_uuid","character_uuid","previous_until") REFERENCES "game"."player_character"("player_uuid","character_uuid","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."recipe" ADD CONSTRAINT "recipe_chain" FOREIGN KEY ("internal_name","previous_until") REFERENCES "game"."recipe"("internal_name","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."recipe_material" ADD CONSTRAINT "recipe_material_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."recipe"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."recipe_sprite" ADD CONSTRAINT "recipe_sprite_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."recipe"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."season" ADD CONSTRAINT "season_chain" FOREIGN KEY ("season","previous_until") REFERENCES "game"."season"("season","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."season_reward" ADD CONSTRAINT "season_reward_root" FOREIGN KEY ("season","valid_from") REFERENCES "game"."season"("season","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."territory" ADD CONSTRAINT "territory_chain" FOREIGN KEY ("territory","previous_until") REFERENCES "game"."territory"("territory","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."territory_hold" ADD CONSTRAINT "territory_hold_chain" FOREIGN KEY ("territory","previous_until") REFERENCES "game"."territory_hold"("territory","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."territory_link" ADD CONSTRAINT "territory_link_root" FOREIGN KEY ("territory","valid_from") REFERENCES "game"."territory"("territory","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "field_change_time" ON "game"."field_change" USING btree ("resource","changed_at");--> statement-breakpoint
CREATE INDEX "observation_key" ON "sync"."observation" USING btree ("resource","key","observed_at");--> statement-breakpoint
CREATE INDEX "run_accepted" ON "sync"."run" USING btree ("resource","observed_at" DESC NULLS LAST) WHERE status in ('ok', 'unchanged', 'partial');--> statement-breakpoint
CREATE INDEX "run_recent" ON "sync"."run" USING btree ("resource","started_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "guild_listing_name" ON "game"."guild_listing" USING btree ("name");--> statement-breakpoint
CREATE INDEX "guild_listing_prefix" ON "game"."guild_listing" USING btree ("prefix");--> statement-breakpoint
CREATE INDEX "guild_member_player" ON "game"."guild_member" USING btree ("player_uuid","valid_from");--> statement-breakpoint
CREATE INDEX "guild_season_season" ON "game"."guild_season" USING btree ("season");--> statement-breakpoint
CREATE INDEX "member_presence_player" ON "game"."member_presence" USING btree ("player_uuid","observed_at");--> statement-breakpoint
CREATE INDEX "online_sample_nobody_hidden" ON "game"."online_sample" USING btree ("observed_at") WHERE hidden = 0;--> statement-breakpoint
CREATE UNIQUE INDEX "player_listing_open" ON "game"."player_listing" USING btree ("player_uuid") WHERE last_listed_at is null;--> statement-breakpoint
CREATE INDEX "player_listing_begun" ON "game"."player_listing" USING btree ("first_listed_at");--> statement-breakpoint
CREATE INDEX "player_listing_left" ON "game"."player_listing" USING btree ("last_listed_at");--> statement-breakpoint
CREATE INDEX "player_username" ON "game"."player" USING btree ("username");--> statement-breakpoint
CREATE INDEX "player_guild" ON "game"."player" USING btree ("guild_uuid","valid_from");--> statement-breakpoint
CREATE INDEX "territory_hold_guild" ON "game"."territory_hold" USING btree ("guild_uuid","valid_from");