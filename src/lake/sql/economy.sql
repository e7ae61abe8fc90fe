-- What was stored and produced in the territories of each guild while it held them, by resource and day (UTC).
-- The hold of a sample is the last one that began before it, found in one pass over both: a join on a range would compare each hold
-- of a territory with each of its samples.
with hold as (
  select territory, guild_uuid, valid_from, valid_until, is_current,
         row_number() over (partition by territory order by valid_from) as number
    from territory_hold
), event as (
  select territory, valid_from as instant, 0 as is_sample, number, null as resource, null as stored, null as generation
    from hold
   union all
  select territory, observed_at, 1, null, resource, stored, generation
    from territory_resource
), sample as (
  select territory, instant, is_sample, resource, stored, generation,
         max(number) over (partition by territory order by instant, is_sample
                            rows between unbounded preceding and current row) as number
    from event
)
select hold.guild_uuid, sample.resource, date_trunc('day', sample.instant) as day, count(*) as samples,
       max(sample.stored) as most_stored, max(sample.generation) as most_generation
  from sample
  join hold on hold.territory = sample.territory and hold.number = sample.number
 where sample.is_sample = 1 and hold.guild_uuid is not null and (hold.is_current or sample.instant < hold.valid_until)
 group by hold.guild_uuid, sample.resource, date_trunc('day', sample.instant)
 order by day, hold.guild_uuid, sample.resource
