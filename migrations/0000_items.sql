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
	"left" integer,
	"right" integer,
	"above" integer,
	"under" integer,
	"touching" integer,
	"not_touching" integer,
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
ALTER TABLE "game"."recipe" ADD CONSTRAINT "recipe_chain" FOREIGN KEY ("internal_name","previous_until") REFERENCES "game"."recipe"("internal_name","valid_until") ON DELETE no action ON UPDATE no action DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "game"."recipe_material" ADD CONSTRAINT "recipe_material_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."recipe"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game"."recipe_sprite" ADD CONSTRAINT "recipe_sprite_root" FOREIGN KEY ("internal_name","valid_from") REFERENCES "game"."recipe"("internal_name","valid_from") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "field_change_time" ON "game"."field_change" USING btree ("resource","changed_at");--> statement-breakpoint
CREATE INDEX "run_accepted" ON "sync"."run" USING btree ("resource","observed_at" DESC NULLS LAST) WHERE status in ('ok', 'unchanged', 'partial');--> statement-breakpoint
CREATE INDEX "run_recent" ON "sync"."run" USING btree ("resource","started_at" DESC NULLS LAST);