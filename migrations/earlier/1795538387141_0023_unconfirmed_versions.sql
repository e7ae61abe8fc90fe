-- Run once instead of 0023_unconfirmed_versions.sql where an earlier edition of it was applied: what that edition lacked.
ALTER TABLE "sync"."unconfirmed_version" ADD COLUMN "ended" timestamp with time zone;
