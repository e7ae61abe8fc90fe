-- From when to when a reward was in a pool: versions that follow one another with the same reward are one span.
create or replace view analytics.reward_span as
with version as (
  select pool.*, exists (select from game.loot_pool_reward reward
                          where reward.internal_name = pool.internal_name and reward.level = pool.level
                            and reward.valid_from = pool.valid_from) as has_rewards
    from game.loot_pool pool
), carried as (
  -- Without any reward between two versions with some, or in the last response alone, the field is missing: nothing changed.
  select version.internal_name, version.level, version.name, version.kind, version.valid_from,
         case when lead(version.valid_from) over own = version.valid_until and not lead(version.has_rewards) over own
               and (lead(version.has_rewards, 2) over own and lead(version.valid_from, 2) over own = lead(version.valid_until) over own
                    or lead(version.valid_until) over own = 'infinity'
                       and lead(version.valid_from) over own = (select max(run.observed_at) from sync.run
                                                                 where run.resource = 'loot-pools'
                                                                   and run.status in ('ok', 'unchanged', 'partial')))
              then lead(version.valid_until) over own else version.valid_until end as valid_until
    from version
  window own as (partition by version.internal_name, version.level order by version.valid_from)
), listed as (
  -- While the API does not send them, it is unknown what is in the pools.
  select distinct pool.internal_name, pool.level, pool.name, pool.kind, reward.reward_type, reward.reward, reward.tier,
         lower(known.during) as valid_from, coalesce(upper(known.during), 'infinity') as valid_until
    from carried pool
    join game.loot_pool_reward reward using (internal_name, level, valid_from)
   cross join (select analytics.times_not_sent('loot_pool_reward') as during) lacking
   cross join lateral unnest(tstzmultirange(tstzrange(pool.valid_from, pool.valid_until)) - lacking.during) as known(during)
), marked as (
  select listed.*,
         lag(valid_until) over same is distinct from valid_from as starts
    from listed
  window same as (partition by internal_name, level, reward_type, reward, tier order by valid_from)
), numbered as (
  select marked.*,
         count(*) filter (where starts) over (partition by internal_name, level, reward_type, reward, tier order by valid_from)
           as span
    from marked
)
select internal_name, level, (array_agg(name order by valid_from desc))[1] as pool,
       (array_agg(kind order by valid_from desc))[1] as kind, reward_type, reward, tier,
       min(valid_from) as since, max(valid_until) as until
  from numbered
 group by internal_name, level, reward_type, reward, tier, span;

comment on view analytics.reward_span is 'From when to when a reward was in a loot pool, one row for each time without a gap; one in which the API does not send rewards is a gap. A response without any rewards of a pool that has some before and after is no gap.';
comment on column analytics.reward_span.internal_name is 'The pool, by its natural key.';
comment on column analytics.reward_span.level is 'The combat level that the rewards are computed for; 0: the own level of the place.';
comment on column analytics.reward_span.pool is 'Name of the pool as players see it.';
comment on column analytics.reward_span.kind is 'CAMP or RAID.';
comment on column analytics.reward_span.reward_type is 'ITEM, ASPECT, TOME, CURRENCY, INGREDIENT or WARD.';
comment on column analytics.reward_span.reward is 'Name of the reward as players see it.';
comment on column analytics.reward_span.tier is 'Tier of the reward. NULL: it has none.';
comment on column analytics.reward_span.since is 'observed_at of the first response with it.';
comment on column analytics.reward_span.until is 'observed_at of the first response without it; infinity: it is in the pool now.';
