-- Run once instead of 0007_captures.sql where an earlier edition of it was applied: what that edition lacked.
CREATE INDEX "territory_hold_first" ON "game"."territory_hold" USING btree ("territory") WHERE previous_until is null;
