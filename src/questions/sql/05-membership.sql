create or replace view analytics.membership as
select member.guild_uuid, member.player_uuid, member.username, lower(member.rank collate "C") collate "default" as rank, member.joined, member.valid_from,
       member.valid_until
  from game.guild_member member
 -- What is to be removed: a membership is history once no response shows it any more.
 where not exists (select from sync.privacy_restriction rule
                    where rule.player_uuid = member.player_uuid and rule.field_group = 'guildHistoryAccess'
                      and not exists (select from game.guild_member now
                                       where now.guild_uuid = member.guild_uuid and now.player_uuid = member.player_uuid
                                         and now.valid_until = 'infinity')
                   -- Looked up by player, instead of reading all restrictions for one guild.
                   offset 0);
comment on view analytics.membership is 'Every version of every membership, without the former guilds of players who hide these.';
comment on column analytics.membership.guild_uuid is 'The guild.';
comment on column analytics.membership.player_uuid is 'The player.';
comment on column analytics.membership.username is 'The player''s name then.';
comment on column analytics.membership.rank is 'The rank in the guild, in small letters.';
comment on column analytics.membership.joined is 'When the player joined, by the API.';
comment on column analytics.membership.valid_from is 'observed_at of the first response that showed it so.';
comment on column analytics.membership.valid_until is 'observed_at of the first response that showed it otherwise; infinity while it is so.';
