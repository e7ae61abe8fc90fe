DROP INDEX "sync"."observation_key";--> statement-breakpoint
CREATE INDEX "observation_key" ON "sync"."observation" USING btree ("resource","key","observed_at","status");