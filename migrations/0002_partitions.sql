CREATE TABLE "sync"."tier" (
	"sample_table" text PRIMARY KEY NOT NULL,
	"fine_since" timestamp with time zone,
	"coarse_since" timestamp with time zone,
	"checked_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "game"."guild_hour" (
	"guild_uuid" uuid NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"online_avg" double precision,
	"online_max" integer,
	CONSTRAINT "guild_hour_pkey" PRIMARY KEY("guild_uuid","hour")
);
--> statement-breakpoint
CREATE TABLE "game"."online_hour" (
	"hour" timestamp with time zone PRIMARY KEY NOT NULL,
	"total_avg" double precision,
	"total_max" integer,
	"total_seconds" double precision NOT NULL,
	"hidden_avg" double precision,
	"hidden_seconds" double precision NOT NULL
);
--> statement-breakpoint
CREATE TABLE "game"."world_hour" (
	"world" text NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"online_avg" double precision NOT NULL,
	"online_max" integer NOT NULL,
	CONSTRAINT "world_hour_pkey" PRIMARY KEY("hour","world")
);
--> statement-breakpoint
-- The tables of samples that grow become partitioned by month. Each old table stays where its rows are and becomes the
-- partition for what has none of its own, so that this takes no time however much there is; `start` and `sync` move the
-- rows into months later, one month at a time.
CREATE SCHEMA "partitions";
--> statement-breakpoint
COMMENT ON SCHEMA "partitions" IS 'The parts of the tables of schema game that are partitioned by time: <table>_<year>_<month>, <table>_before (older than all months) and <table>_rest (what has no month yet). Ask the tables in game.';
--> statement-breakpoint
DO $$
DECLARE
  "growing" constant text[] := ARRAY['guild_ranking', 'guild_sample', 'member_counter', 'member_presence', 'online_sample', 'world_sample',
    'character_counter', 'character_profession', 'player_counter', 'player_ranking', 'player_status', 'territory_resource'];
  "readers" text;
  "one" text;
  "primary_key" text;
  "index_definitions" text[];
  "definition" text;
BEGIN
  -- The program's own views are installed anew below; anybody else's would go on reading the old table, without a word.
  SELECT string_agg(DISTINCT reader.oid::regclass::text, ', ') INTO "readers"
    FROM pg_depend JOIN pg_rewrite ON pg_rewrite.oid = pg_depend.objid AND pg_depend.classid = 'pg_rewrite'::regclass
    JOIN pg_class reader ON reader.oid = pg_rewrite.ev_class
   WHERE pg_depend.refobjid IN (SELECT ('game.' || name)::regclass FROM unnest("growing") AS name)
     AND reader.relnamespace::regnamespace::text <> 'analytics';
  IF "readers" IS NOT NULL THEN
    RAISE EXCEPTION 'these views read tables of samples that must become partitioned: %; drop them, and create them again afterwards', "readers";
  END IF;
  FOREACH "one" IN ARRAY "growing" LOOP
    SELECT pg_get_constraintdef(oid) INTO STRICT "primary_key" FROM pg_constraint
     WHERE conrelid = ('game.' || "one")::regclass AND contype = 'p';
    SELECT array_agg(pg_get_indexdef(indexrelid)) INTO "index_definitions" FROM pg_index
     WHERE indrelid = ('game.' || "one")::regclass AND NOT indisprimary;
    EXECUTE format('ALTER TABLE game.%I SET SCHEMA partitions', "one");
    EXECUTE format('ALTER TABLE partitions.%I RENAME TO %I', "one", "one" || '_rest');
    EXECUTE format('CREATE TABLE game.%I (LIKE partitions.%I INCLUDING ALL EXCLUDING INDEXES) PARTITION BY RANGE (observed_at)', "one", "one" || '_rest');
    EXECUTE format('ALTER TABLE game.%I ADD CONSTRAINT %I %s', "one", "one" || '_pkey', "primary_key");
    FOREACH "definition" IN ARRAY coalesce("index_definitions", '{}') LOOP
      EXECUTE "definition";
    END LOOP;
    EXECUTE format('ALTER TABLE game.%I ATTACH PARTITION partitions.%I DEFAULT', "one", "one" || '_rest');
  END LOOP;
  -- What was installed before reads the old tables under their new names: install all of it anew.
  IF to_regclass('sync.installed_sql') IS NOT NULL THEN
    DELETE FROM sync.installed_sql;
  END IF;
END $$;
--> statement-breakpoint
CREATE INDEX "observation_received" ON "sync"."observation" USING btree ("resource","received_at");--> statement-breakpoint
CREATE INDEX "guild_ranking_time" ON "game"."guild_ranking" USING brin ("observed_at");--> statement-breakpoint
CREATE INDEX "guild_sample_time" ON "game"."guild_sample" USING brin ("observed_at");--> statement-breakpoint
CREATE INDEX "member_counter_time" ON "game"."member_counter" USING brin ("observed_at");--> statement-breakpoint
CREATE INDEX "member_presence_time" ON "game"."member_presence" USING brin ("observed_at");--> statement-breakpoint
CREATE INDEX "world_sample_time" ON "game"."world_sample" USING brin ("observed_at");--> statement-breakpoint
CREATE INDEX "character_counter_time" ON "game"."character_counter" USING brin ("observed_at");--> statement-breakpoint
CREATE INDEX "character_profession_time" ON "game"."character_profession" USING brin ("observed_at");--> statement-breakpoint
CREATE INDEX "player_counter_time" ON "game"."player_counter" USING brin ("observed_at");--> statement-breakpoint
CREATE INDEX "player_ranking_time" ON "game"."player_ranking" USING brin ("observed_at");--> statement-breakpoint
CREATE INDEX "player_status_time" ON "game"."player_status" USING brin ("observed_at");--> statement-breakpoint
CREATE INDEX "territory_resource_time" ON "game"."territory_resource" USING brin ("observed_at");