-- Run once instead of 0013_world_content.sql where an earlier edition of it was applied: what that edition lacked.
ALTER TABLE "game"."news" ADD COLUMN "published_at" timestamp with time zone;
