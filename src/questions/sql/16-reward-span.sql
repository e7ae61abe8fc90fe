-- From when to when a reward was in a pool: versions that follow one another with the same reward are one span.
create or replace view analytics.reward_span as
with version as (
  select pool.*, exists (select from game.loot_pool_reward reward
                          where reward.internal_name = pool.internal_name and reward.level = pool.level
                            and reward.valid_from = pool.valid_from) as has_rewards
    from game.loot_pool pool
), beside as (
  select version.internal_name, version.level, version.name, version.kind, version.valid_from, version.valid_until,
         lead(version.valid_from) over own as next_from, lead(version.valid_until) over own as next_until,
         lead(version.has_rewards) over own as has_next, lead(version.document ? 'rewards') over own as is_next_sent,
         lead(version.valid_from, 2) over own as after_from, lead(version.has_rewards, 2) over own as has_after
    from version
  window own as (partition by version.internal_name, version.level order by version.valid_from)
), carried as (
  -- Between two versions with rewards the field is missing, or one response alone, also the last one, has none: nothing changed.
  select beside.internal_name, beside.level, beside.name, beside.kind, beside.valid_from,
         case when beside.next_from = beside.valid_until and not beside.has_next
               and (beside.has_after and beside.after_from = beside.next_until and not beside.is_next_sent
                    or (beside.has_after and beside.after_from = beside.next_until or beside.next_until = 'infinity')
                       and not exists (select from sync.run other
                                        where other.resource = 'loot-pools' and other.status in ('ok', 'unchanged', 'partial')
                                          and other.observed_at > beside.next_from and other.observed_at < beside.next_until))
              then beside.next_until else beside.valid_until end as valid_until
    from beside
), listed as (
  -- While the API does not send them, it is unknown what is in the pools.
  select distinct pool.internal_name, pool.level, pool.name, pool.kind, reward.reward_type, reward.reward, reward.tier,
         lower(known.during) as valid_from, coalesce(upper(known.during), 'infinity') as valid_until
    from carried pool
    join game.loot_pool_reward reward using (internal_name, level, valid_from)
   cross join (select analytics.times_not_sent('loot_pool_reward') as during offset 0) lacking
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
