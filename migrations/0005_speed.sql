DROP INDEX "game"."territory_hold_guild";--> statement-breakpoint
DROP INDEX "sync"."run_accepted";--> statement-breakpoint
CREATE INDEX "guild_member_begun" ON "game"."guild_member" USING btree ("guild_uuid","valid_from");--> statement-breakpoint
CREATE INDEX "guild_member_username" ON "game"."guild_member" USING btree ("username");--> statement-breakpoint
CREATE INDEX "member_presence_login" ON "game"."member_presence" USING btree ("player_uuid","last_join");--> statement-breakpoint
CREATE INDEX "territory_hold_by_guild" ON "game"."territory_hold" USING btree ("guild_uuid","valid_from","valid_until");--> statement-breakpoint
CREATE INDEX "territory_hold_captured" ON "game"."territory_hold" USING btree ((coalesce(acquired, valid_from)));--> statement-breakpoint
CREATE INDEX "territory_hold_captured_place" ON "game"."territory_hold" USING btree ("territory",(coalesce(acquired, valid_from)));--> statement-breakpoint
CREATE INDEX "territory_hold_current" ON "game"."territory_hold" USING btree ("territory") WHERE valid_until = 'infinity';--> statement-breakpoint
CREATE INDEX "territory_hold_foretold" ON "game"."territory_hold" USING btree ("territory") WHERE acquired > valid_from;--> statement-breakpoint
CREATE INDEX "run_accepted" ON "sync"."run" USING btree ("resource","observed_at" DESC NULLS LAST,"finished_at" DESC NULLS LAST) WHERE status in ('ok', 'unchanged', 'partial');