create or replace view analytics.territory_capture as
select coalesce(hold.acquired, hold.valid_from) as captured_at, hold.observed_at, hold.territory,
       before.guild_uuid as from_guild_uuid, before.guild_name as from_guild_name,
       hold.guild_uuid as to_guild_uuid, hold.guild_name as to_guild_name,
       before.guild_uuid is not distinct from hold.guild_uuid as is_recapture
  from game.territory_hold hold
  join game.territory_hold before on before.territory = hold.territory and before.valid_until = hold.previous_until
 where hold.guild_uuid is not null
   -- Another owner, or a later capture by the same one.
   and (hold.guild_uuid is distinct from before.guild_uuid or hold.acquired > before.acquired)
   -- A hold that was seen before and comes back, after answers that did not tell of it, is not captured once more.
   -- That can only be where a hold begins later than it was captured, or an earlier one of the place before it was.
   and not ((hold.acquired < hold.valid_from
             or hold.territory in (select foretold.territory from game.territory_hold foretold
                                    where foretold.acquired > foretold.valid_from))
            and exists (select from game.territory_hold earlier
                         where earlier.territory = hold.territory and earlier.valid_from < hold.valid_from
                           and earlier.guild_uuid = hold.guild_uuid and earlier.acquired >= hold.acquired));
comment on view analytics.territory_capture is 'Every capture that an answer showed, also by the guild that already held the place. The first answer about a territory shows its owner, not a capture.';
comment on column analytics.territory_capture.captured_at is 'When it happened, by the game''s own clock; when first seen where the API did not tell.';
comment on column analytics.territory_capture.observed_at is 'The instant that the answer speaks for that showed it first.';
comment on column analytics.territory_capture.territory is 'Exact name of the territory.';
comment on column analytics.territory_capture.from_guild_uuid is 'Who was seen holding it before; NULL when nobody did. Others may have held it between two answers.';
comment on column analytics.territory_capture.from_guild_name is 'Name of that guild then.';
comment on column analytics.territory_capture.to_guild_uuid is 'Who captured it.';
comment on column analytics.territory_capture.to_guild_name is 'Name of that guild then.';
comment on column analytics.territory_capture.is_recapture is 'True when the same guild was seen holding it before.';
