-- Run once instead of 0004_bounds.sql where an earlier edition of it was applied: what that edition lacked.
CREATE INDEX "raw_answer_refused" ON "sync"."raw_answer" USING btree ("resource") WHERE status in ('rejected', 'failed');
