ALTER TABLE "sync"."raw_body" ADD COLUMN "base" "bytea";--> statement-breakpoint
CREATE INDEX "raw_body_base" ON "sync"."raw_body" USING btree ("base") WHERE base is not null;