create or replace function analytics.territory_economy(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (at timestamptz, territory text, resource text, stored bigint, storage_limit bigint, generation bigint,
               treasury text, defences text, is_hq boolean)
language sql stable parallel safe
begin atomic
  select sample.observed_at, sample.territory, sample.resource, sample.stored, sample.storage_limit, sample.generation,
         standing.treasury, standing.defences, standing.is_hq
    from game.territory_hold hold
    join game.territory_resource sample
      on sample.territory = hold.territory
     and sample.observed_at >= greatest(hold.valid_from, from_time)
     and sample.observed_at < least(hold.valid_until, to_time)
    left join game.territory standing
      on standing.territory = sample.territory
     and standing.valid_from <= sample.observed_at and sample.observed_at < standing.valid_until
   where hold.guild_uuid = guild and hold.valid_from < to_time and hold.valid_until > from_time
   order by sample.observed_at, sample.territory, sample.resource;
end;
comment on function analytics.territory_economy(uuid, timestamptz, timestamptz) is
'What was stored and produced in the territories of a guild while it held them in [from_time, to_time), a row whenever a value changed. Per hour; emeralds or pieces.';
