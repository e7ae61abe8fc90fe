-- Run once instead of 0008_ahead_of_questions.sql where an earlier edition of it was applied: what that edition lacked.
CREATE INDEX "territory_current" ON "game"."territory" USING btree ("territory") WHERE valid_until = 'infinity';
