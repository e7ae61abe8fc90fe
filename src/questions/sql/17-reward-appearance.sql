create or replace view analytics.reward_appearance as
with beside as (
  select span.*, lag(span.until) over (partition by span.internal_name, span.reward_type, span.reward, span.tier order by span.since) as before_until
    from analytics.reward_span span
   where span.level = 0
), come as (
  -- What was there before a time without rewards and is there after it need not have come again.
  select beside.*, case when not exists (select from unnest(lacking.during) as one(during)
                                          where lower(one.during) = beside.before_until and upper(one.during) = beside.since)
                        then beside.since end as came_at
    from beside
   cross join (select analytics.times_not_sent('loot_pool_reward') as during offset 0) lacking
), timed as (
  select come.*, coalesce(analytics.unread_from('loot-pools', come.internal_name || '/' || come.level, come.until), come.until) as shown_until,
         come.came_at - max(come.came_at) over (partition by come.internal_name, come.reward_type, come.reward, come.tier
                                                order by come.since rows between unbounded preceding and 1 preceding) as after
    from come
)
select (array_agg(pool order by since desc))[1] as pool, reward_type, reward,
       min(since) as first_seen,
       greatest(max(since), (select max(run.observed_at) from sync.run
                              where run.resource = 'loot-pools' and run.status in ('ok', 'unchanged', 'partial')
                                and run.observed_at < max(timed.shown_until))) as last_seen,
       count(came_at)::int as times,
       bool_or(until = 'infinity') as is_current,
       percentile_disc(0.5) within group (order by after) as usual_interval,
       tier, internal_name
  from timed
 group by internal_name, reward_type, reward, tier;

comment on view analytics.reward_appearance is 'Which rewards were in which loot pool, how often and how regularly. Only what responses showed: history begins with the first one.';
comment on column analytics.reward_appearance.pool is 'Name of the pool as players see it.';
comment on column analytics.reward_appearance.reward_type is 'ITEM, ASPECT, TOME, CURRENCY, INGREDIENT or WARD.';
comment on column analytics.reward_appearance.reward is 'Name of the reward as players see it.';
comment on column analytics.reward_appearance.first_seen is 'observed_at of the first response with it.';
comment on column analytics.reward_appearance.last_seen is 'When it was last in the pool: observed_at of the last response that showed it.';
comment on column analytics.reward_appearance.times is 'How often it came into the pool. What is back with the rewards, after a time in which the API did not send them, did not come again.';
comment on column analytics.reward_appearance.is_current is 'True: it is in the pool now.';
comment on column analytics.reward_appearance.usual_interval is 'Median time from one coming to the next. NULL: it came once.';
comment on column analytics.reward_appearance.tier is 'Tier of the reward. NULL: it has none.';
comment on column analytics.reward_appearance.internal_name is 'The pool, by its natural key.';
