create or replace function analytics.loot_pool_at(at timestamptz default now())
returns table (pool text, kind text, reward_type text, reward text, tier text, amount bigint, shiny boolean, always boolean,
               since timestamptz)
language sql stable parallel safe
begin atomic
  select pooled.name, pooled.kind, pooled.reward_type, pooled.reward, pooled.tier, pooled.amount, pooled.shiny, pooled.always, pooled.since
    from (
      select pool.name, pool.kind, reward.reward_type, reward.reward, reward.tier, reward.amount, reward.shiny, reward.always,
             span.since, reward.position
        from game.loot_pool pool
        join game.loot_pool_reward reward using (internal_name, level, valid_from)
        join analytics.reward_span span
          on span.internal_name = pool.internal_name and span.level = pool.level
         and span.reward_type is not distinct from reward.reward_type and span.reward is not distinct from reward.reward
         and span.tier is not distinct from reward.tier
         and span.since <= loot_pool_at.at and loot_pool_at.at < span.until
       where pool.level = 0 and analytics.checked_at(loot_pool_at.at) is not null
         -- The latest version with rewards: where a response left them out, their spans go on.
         and pool.valid_from = (select max(latest.valid_from) from game.loot_pool_reward latest
                                 where latest.internal_name = pool.internal_name and latest.level = 0
                                   and latest.valid_from <= loot_pool_at.at)
       union all
      select pool.name, pool.kind, null, null, null, null, null, null, null, null
        from game.loot_pool pool
       cross join analytics.not_sent('loot_pool_reward', loot_pool_at.at) lacking
       where pool.level = 0 and pool.valid_from <= loot_pool_at.at and loot_pool_at.at < pool.valid_until
         and cardinality(lacking.columns) > 0 and analytics.checked_at(loot_pool_at.at) is not null
         ) pooled
   order by pooled.kind collate "C", pooled.name collate "C", pooled.position;
end;
comment on function analytics.loot_pool_at(timestamptz) is
'What was in the loot pools of camps and raids at an instant (now when left out), at the own level of each; since: from when on the pool had the reward. A pool whose rewards the API did not send has one row with NULL.';
