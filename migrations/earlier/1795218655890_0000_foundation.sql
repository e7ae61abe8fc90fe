-- Run once instead of 0000_foundation.sql where an earlier edition of it was applied: what that edition lacked.
CREATE INDEX "member_presence_player" ON "game"."member_presence" USING btree ("player_uuid","observed_at");
