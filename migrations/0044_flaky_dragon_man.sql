ALTER TABLE "game"."character_counter" ALTER COLUMN "value" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "game"."player_counter" ALTER COLUMN "value" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "game"."player_ranking" ALTER COLUMN "position" DROP NOT NULL;