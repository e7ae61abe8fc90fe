-- No hold begins before its own capture, and no capture lies ahead of the response that showed it first.
UPDATE "game"."territory_hold" SET "acquired" = "valid_from" WHERE "acquired" > "valid_from";--> statement-breakpoint
UPDATE "game"."territory_capture" SET "captured_at" = "held_from" WHERE "captured_at" > "observed_at" AND "held_from" <= "observed_at";--> statement-breakpoint
DROP INDEX "game"."territory_hold_foretold";