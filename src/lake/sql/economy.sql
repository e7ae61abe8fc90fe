-- What was stored and produced in the territories of each guild while it held them, by resource and day (UTC).
select hold.guild_uuid, sample.resource, date_trunc('day', sample.observed_at) as day, count(*) as samples,
       max(sample.stored) as most_stored, max(sample.generation) as most_generated
  from territory_hold hold
  join territory_resource sample
    on sample.territory = hold.territory and sample.observed_at >= hold.valid_from
   and (hold.is_current or sample.observed_at < hold.valid_until)
 where hold.guild_uuid is not null
 group by hold.guild_uuid, sample.resource, date_trunc('day', sample.observed_at)
 order by day, hold.guild_uuid, sample.resource
