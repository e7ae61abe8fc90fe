-- A column that is new: what returns others cannot be replaced.
do $$
begin
  if exists (select from pg_proc where oid = to_regprocedure('analytics.loot_pool_at(timestamptz)') and not 'reason' = any(proargnames)) then
    drop function analytics.loot_pool_at(timestamptz);
  end if;
end $$;

create or replace function analytics.loot_pool_at(at timestamptz default now())
returns table (pool text, kind text, reward_type text, reward text, tier text, amount bigint, shiny boolean, always boolean,
               since timestamptz, reason text)
language sql stable parallel safe
begin atomic
  with known as materialized (
    select version.internal_name, version.name, version.kind,
           analytics.was_observed('loot-pools', loot_pool_at.at, version.valid_until)
             and analytics.was_read('loot-pools', version.internal_name || '/' || version.level, loot_pool_at.at, version.valid_until) as is_known
      from game.loot_pool version
     where version.level = 0 and version.valid_from <= loot_pool_at.at and loot_pool_at.at < version.valid_until
       and analytics.checked_at(loot_pool_at.at) is not null
  )
  select pooled.name, pooled.kind, pooled.reward_type, pooled.reward, pooled.tier, pooled.amount, pooled.shiny, pooled.always, pooled.since, pooled.reason
    from (
      select pool.name, pool.kind, reward.reward_type, reward.reward, reward.tier, reward.amount, reward.shiny, reward.always,
             span.since, null as reason, reward.position
        from game.loot_pool pool
        join game.loot_pool_reward reward using (internal_name, level, valid_from)
        join analytics.reward_span span
          on span.internal_name = pool.internal_name and span.level = pool.level
         and span.reward_type is not distinct from reward.reward_type and span.reward is not distinct from reward.reward
         and span.tier is not distinct from reward.tier
         and span.since <= loot_pool_at.at and loot_pool_at.at < span.until
       where pool.level = 0 and exists (select from known where known.internal_name = pool.internal_name and known.is_known)
         -- The latest version with rewards: where a response left them out, their spans go on.
         and pool.valid_from = (select max(latest.valid_from) from game.loot_pool_reward latest
                                 where latest.internal_name = pool.internal_name and latest.level = 0
                                   and latest.valid_from <= loot_pool_at.at)
       union all
      select known.name, known.kind, null, null, null, null, null, null, null,
             case when known.is_known then 'not sent' else 'not observed' end, null
        from known
       cross join analytics.not_sent('loot_pool_reward', loot_pool_at.at) lacking
       where not known.is_known or cardinality(lacking.columns) > 0) pooled
   order by pooled.kind collate "C", pooled.name collate "C", pooled.position;
end;
comment on function analytics.loot_pool_at(timestamptz) is
'What was in the loot pools of camps and raids at an instant (now when left out), at the own level of each; since: from when on the pool had the reward. A pool whose rewards are not known has one row with NULL and a reason: not sent (the API did not send them), not observed (no response came for long, and the next one showed something else, or none has come).';
