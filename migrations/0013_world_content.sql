CREATE TABLE "game"."ability" (
	"class" text NOT NULL,
	"kind" text NOT NULL,
	"id" text NOT NULL,
	"name_html" text,
	"name" text,
	"description_html" text,
	"description" text,
	"page" integer,
	"slot" integer,
	"x" integer,
	"y" integer,
	"icon" text,
	"ability_points" integer,
	"combat_level" integer,
	"archetype" text,
	"archetype_amount" integer,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "ability_pkey" PRIMARY KEY("class","kind","id","valid_from"),
	CONSTRAINT "ability_end" UNIQUE("class","kind","id","valid_until"),
	CONSTRAINT "ability_start" UNIQUE NULLS NOT DISTINCT("class","kind","id","previous_until"),
	CONSTRAINT "ability_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "ability_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."ability_link" (
	"class" text NOT NULL,
	"kind" text NOT NULL,
	"id" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"relation" text NOT NULL,
	"other_id" text NOT NULL,
	CONSTRAINT "ability_link_pkey" PRIMARY KEY("class","kind","id","valid_from","relation","other_id")
);
--> statement-breakpoint
CREATE TABLE "game"."article" (
	"pk" bigint NOT NULL,
	"type" text,
	"title" text,
	"recap" text,
	"banner" text,
	"is_visible" boolean,
	"is_pinned" boolean,
	"starts_at" timestamp with time zone,
	"ends_at" timestamp with time zone,
	"published_at" timestamp with time zone,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "article_pkey" PRIMARY KEY("pk","valid_from"),
	CONSTRAINT "article_end" UNIQUE("pk","valid_until"),
	CONSTRAINT "article_start" UNIQUE NULLS NOT DISTINCT("pk","previous_until"),
	CONSTRAINT "article_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "article_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."aspect" (
	"internal_name" text NOT NULL,
	"name" text,
	"rarity" text,
	"required_class" text,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "aspect_pkey" PRIMARY KEY("internal_name","valid_from"),
	CONSTRAINT "aspect_end" UNIQUE("internal_name","valid_until"),
	CONSTRAINT "aspect_start" UNIQUE NULLS NOT DISTINCT("internal_name","previous_until"),
	CONSTRAINT "aspect_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "aspect_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."aspect_tier" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"tier" integer NOT NULL,
	"threshold" integer,
	"description_html" text,
	"description" text,
	CONSTRAINT "aspect_tier_pkey" PRIMARY KEY("internal_name","valid_from","tier")
);
--> statement-breakpoint
CREATE TABLE "game"."camp" (
	"internal_name" text NOT NULL,
	"level" integer NOT NULL,
	"name" text,
	"kind" text,
	"lore" text,
	"difficulty" text,
	"recommended_level" integer,
	"length" text,
	"x" double precision,
	"y" double precision,
	"z" double precision,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "camp_pkey" PRIMARY KEY("internal_name","level","valid_from"),
	CONSTRAINT "camp_end" UNIQUE("internal_name","level","valid_until"),
	CONSTRAINT "camp_start" UNIQUE NULLS NOT DISTINCT("internal_name","level","previous_until"),
	CONSTRAINT "camp_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "camp_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."camp_requirement" (
	"internal_name" text NOT NULL,
	"level" integer NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"requirement_type" text,
	"value" text,
	CONSTRAINT "camp_requirement_pkey" PRIMARY KEY("internal_name","level","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."camp_reward" (
	"internal_name" text NOT NULL,
	"level" integer NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"reward_type" text,
	"reward" text,
	"tier" text,
	"amount" bigint,
	"shiny" boolean,
	"always" boolean,
	CONSTRAINT "camp_reward_pkey" PRIMARY KEY("internal_name","level","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."class" (
	"class" text NOT NULL,
	"name" text,
	"lore" text,
	"overall_difficulty" integer,
	"overall_max" integer,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "class_pkey" PRIMARY KEY("class","valid_from"),
	CONSTRAINT "class_end" UNIQUE("class","valid_until"),
	CONSTRAINT "class_start" UNIQUE NULLS NOT DISTINCT("class","previous_until"),
	CONSTRAINT "class_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "class_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."class_archetype" (
	"class" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"archetype" text NOT NULL,
	"name" text,
	"icon" text,
	"difficulty" integer,
	"max" integer,
	"damage" integer,
	"defence" integer,
	"range" integer,
	"speed" integer,
	CONSTRAINT "class_archetype_pkey" PRIMARY KEY("class","valid_from","archetype")
);
--> statement-breakpoint
CREATE TABLE "game"."gathering_node" (
	"x" double precision NOT NULL,
	"y" double precision NOT NULL,
	"z" double precision NOT NULL,
	"resource" text NOT NULL,
	"kind" text,
	"level" integer,
	"angle" integer,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "gathering_node_pkey" PRIMARY KEY("x","y","z","resource","valid_from"),
	CONSTRAINT "gathering_node_end" UNIQUE("x","y","z","resource","valid_until"),
	CONSTRAINT "gathering_node_start" UNIQUE NULLS NOT DISTINCT("x","y","z","resource","previous_until"),
	CONSTRAINT "gathering_node_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "gathering_node_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."news" (
	"forum_thread" text NOT NULL,
	"title" text,
	"author" text,
	"date" text,
	"published_at" timestamp with time zone,
	"content_html" text,
	"content" text,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "news_pkey" PRIMARY KEY("forum_thread","valid_from"),
	CONSTRAINT "news_end" UNIQUE("forum_thread","valid_until"),
	CONSTRAINT "news_start" UNIQUE NULLS NOT DISTINCT("forum_thread","previous_until"),
	CONSTRAINT "news_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "news_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."news_comments" (
	"forum_thread" text NOT NULL,
	"observed_at" timestamp with time zone NOT NULL,
	"comments" bigint,
	CONSTRAINT "news_comments_pkey" PRIMARY KEY("forum_thread","observed_at")
);
--> statement-breakpoint
CREATE TABLE "game"."loot_pool" (
	"internal_name" text NOT NULL,
	"level" integer NOT NULL,
	"name" text,
	"kind" text,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "loot_pool_pkey" PRIMARY KEY("internal_name","level","valid_from"),
	CONSTRAINT "loot_pool_end" UNIQUE("internal_name","level","valid_until"),
	CONSTRAINT "loot_pool_start" UNIQUE NULLS NOT DISTINCT("internal_name","level","previous_until"),
	CONSTRAINT "loot_pool_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "loot_pool_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."loot_pool_reward" (
	"internal_name" text NOT NULL,
	"level" integer NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"reward_type" text,
	"reward" text,
	"tier" text,
	"amount" bigint,
	"shiny" boolean,
	"always" boolean,
	CONSTRAINT "loot_pool_reward_pkey" PRIMARY KEY("internal_name","level","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."map_marker" (
	"name" text NOT NULL,
	"x" double precision NOT NULL,
	"y" double precision NOT NULL,
	"z" double precision NOT NULL,
	"icon" text,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "map_marker_pkey" PRIMARY KEY("name","x","y","z","valid_from"),
	CONSTRAINT "map_marker_end" UNIQUE("name","x","y","z","valid_until"),
	CONSTRAINT "map_marker_start" UNIQUE NULLS NOT DISTINCT("name","x","y","z","previous_until"),
	CONSTRAINT "map_marker_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "map_marker_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."quest_count" (
	"counted" text NOT NULL,
	"quests" integer NOT NULL,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "quest_count_pkey" PRIMARY KEY("counted","valid_from"),
	CONSTRAINT "quest_count_end" UNIQUE("counted","valid_until"),
	CONSTRAINT "quest_count_start" UNIQUE NULLS NOT DISTINCT("counted","previous_until"),
	CONSTRAINT "quest_count_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "quest_count_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."raid" (
	"internal_name" text NOT NULL,
	"level" integer NOT NULL,
	"name" text,
	"kind" text,
	"lore" text,
	"difficulty" text,
	"recommended_level" integer,
	"length" text,
	"x" double precision,
	"y" double precision,
	"z" double precision,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "raid_pkey" PRIMARY KEY("internal_name","level","valid_from"),
	CONSTRAINT "raid_end" UNIQUE("internal_name","level","valid_until"),
	CONSTRAINT "raid_start" UNIQUE NULLS NOT DISTINCT("internal_name","level","previous_until"),
	CONSTRAINT "raid_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "raid_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."raid_requirement" (
	"internal_name" text NOT NULL,
	"level" integer NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"requirement_type" text,
	"value" text,
	CONSTRAINT "raid_requirement_pkey" PRIMARY KEY("internal_name","level","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."raid_reward" (
	"internal_name" text NOT NULL,
	"level" integer NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"reward_type" text,
	"reward" text,
	"tier" text,
	"amount" bigint,
	"shiny" boolean,
	"always" boolean,
	CONSTRAINT "raid_reward_pkey" PRIMARY KEY("internal_name","level","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."video" (
	"address" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "video_pkey" PRIMARY KEY("address","valid_from"),
	CONSTRAINT "video_end" UNIQUE("address","valid_until"),
	CONSTRAINT "video_start" UNIQUE NULLS NOT DISTINCT("address","previous_until"),
	CONSTRAINT "video_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "video_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."world_event" (
	"internal_name" text NOT NULL,
	"name" text,
	"lore" text,
	"difficulty" text,
	"level" integer,
	"length" text,
	"document" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone DEFAULT 'infinity' NOT NULL,
	"previous_until" timestamp with time zone,
	"hash" "bytea" NOT NULL,
	"extra" jsonb,
	CONSTRAINT "world_event_pkey" PRIMARY KEY("internal_name","valid_from"),
	CONSTRAINT "world_event_end" UNIQUE("internal_name","valid_until"),
	CONSTRAINT "world_event_start" UNIQUE NULLS NOT DISTINCT("internal_name","previous_until"),
	CONSTRAINT "world_event_order" CHECK ("valid_from" < "valid_until"),
	CONSTRAINT "world_event_after" CHECK ("previous_until" <= "valid_from")
);
--> statement-breakpoint
CREATE TABLE "game"."world_event_location" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"x" double precision,
	"y" double precision,
	"z" double precision,
	"radius" double precision,
	"spawn_x" double precision,
	"spawn_y" double precision,
	"spawn_z" double precision,
	"spawn_radius" double precision,
	CONSTRAINT "world_event_location_pkey" PRIMARY KEY("internal_name","valid_from","position")
);
--> statement-breakpoint
CREATE TABLE "game"."world_event_occurrence" (
	"internal_name" text NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"announced_at" timestamp with time zone NOT NULL,
	CONSTRAINT "world_event_occurrence_pkey" PRIMARY KEY("internal_name","starts_at")
);
--> statement-breakpoint
CREATE TABLE "game"."world_event_requirement" (
	"internal_name" text NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"position" integer NOT NULL,
	"requirement_type" text,
	"value" text,
	CONSTRAINT "world_event_requirement_pkey" PRIMARY KEY("internal_name","valid_from","position")
);
--> statement-breakpoint
ALTER TABLE "game"."ability" ADD CONSTRAINT "ability_chain" FOREIGN KEY ("class","kind","id","previous_until") REFERENCES "game"."ability"("class","kind","id","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."ability_link" ADD CONSTRAINT "ability_link_root" FOREIGN KEY ("class","kind","id","valid_from") REFERENCES "game"."ability"("class","kind","id","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."article" ADD CONSTRAINT "article_chain" FOREIGN KEY ("pk","previous_until") REFERENCES "game"."article"("pk","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."aspect" ADD CONSTRAINT "aspect_chain" FOREIGN KEY ("internal_name","previous_until") REFERENCES "game"."aspect"("internal_name","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."aspect_tier" ADD CONSTRAINT "aspect_tier_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."aspect"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."camp" ADD CONSTRAINT "camp_chain" FOREIGN KEY ("internal_name","level","previous_until") REFERENCES "game"."camp"("internal_name","level","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."camp_requirement" ADD CONSTRAINT "camp_requirement_root" FOREIGN KEY ("internal_name","level","valid_from") REFERENCES "game"."camp"("internal_name","level","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."camp_reward" ADD CONSTRAINT "camp_reward_root" FOREIGN KEY ("internal_name","level","valid_from") REFERENCES "game"."camp"("internal_name","level","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."class" ADD CONSTRAINT "class_chain" FOREIGN KEY ("class","previous_until") REFERENCES "game"."class"("class","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."class_archetype" ADD CONSTRAINT "class_archetype_root" FOREIGN KEY ("class","valid_from") REFERENCES "game"."class"("class","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."gathering_node" ADD CONSTRAINT "gathering_node_chain" FOREIGN KEY ("x","y","z","resource","previous_until") REFERENCES "game"."gathering_node"("x","y","z","resource","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."news" ADD CONSTRAINT "news_chain" FOREIGN KEY ("forum_thread","previous_until") REFERENCES "game"."news"("forum_thread","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."loot_pool" ADD CONSTRAINT "loot_pool_chain" FOREIGN KEY ("internal_name","level","previous_until") REFERENCES "game"."loot_pool"("internal_name","level","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."loot_pool_reward" ADD CONSTRAINT "loot_pool_reward_root" FOREIGN KEY ("internal_name","level","valid_from") REFERENCES "game"."loot_pool"("internal_name","level","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."map_marker" ADD CONSTRAINT "map_marker_chain" FOREIGN KEY ("name","x","y","z","previous_until") REFERENCES "game"."map_marker"("name","x","y","z","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."quest_count" ADD CONSTRAINT "quest_count_chain" FOREIGN KEY ("counted","previous_until") REFERENCES "game"."quest_count"("counted","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."raid" ADD CONSTRAINT "raid_chain" FOREIGN KEY ("internal_name","level","previous_until") REFERENCES "game"."raid"("internal_name","level","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."raid_requirement" ADD CONSTRAINT "raid_requirement_root" FOREIGN KEY ("internal_name","level","valid_from") REFERENCES "game"."raid"("internal_name","level","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."raid_reward" ADD CONSTRAINT "raid_reward_root" FOREIGN KEY ("internal_name","level","valid_from") REFERENCES "game"."raid"("internal_name","level","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."video" ADD CONSTRAINT "video_chain" FOREIGN KEY ("address","previous_until") REFERENCES "game"."video"("address","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."world_event" ADD CONSTRAINT "world_event_chain" FOREIGN KEY ("internal_name","previous_until") REFERENCES "game"."world_event"("internal_name","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."world_event_location" ADD CONSTRAINT "world_event_location_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."world_event"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."world_event_requirement" ADD CONSTRAINT "world_event_requirement_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."world_event"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "world_event_occurrence_time" ON "game"."world_event_occurrence" USING btree ("starts_at");