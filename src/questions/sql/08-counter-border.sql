create or replace function analytics.counter_unsent(kind text, counter text)
returns table (last_sent_at timestamptz, until_at timestamptz)
language sql stable parallel safe
begin atomic
  select span.last_sent_at, coalesce(span.until_at, 'infinity')
    from sync.unsent span
    -- A counter is named by its path in the record, and a part of what is not sent is not sent.
   cross join lateral (select case counter_unsent.kind when 'member' then '/members/*/*' when 'character' then '/characters/*'
                                when 'profession' then '/characters/*/professions' else '' end as place,
                              case when counter_unsent.kind = 'member'
                                        and counter_unsent.counter not in ('contributed', 'contributionRank') and counter_unsent.counter not like 'weekly.%'
                                     or counter_unsent.kind = 'player' and counter_unsent.counter <> 'playtime'
                                   then '/globalData' else '' end as part,
                              case counter_unsent.counter when 'xp_percent' then 'xpPercent' else replace(counter_unsent.counter, '.', '/') end as name) counted
   where span.resource = case when counter_unsent.kind in ('guild', 'member') then 'guilds' else 'players' end
     and counter_unsent.kind <> 'leaderboard'
     and starts_with(counted.place || counted.part || '/' || counted.name || '/', span.field || '/')
     and (counter_unsent.kind <> 'member' or starts_with(span.field, counted.place));
end;
comment on function analytics.counter_unsent(text, text) is
'When the API did not send a counter: from after the last response with it until the first with it again (infinity: it is not sent). Arguments: kind, such as member; counter, by its path in the record, such as contributed.';

create or replace function analytics.member_field_unsent(counter text, from_time timestamptz, to_time timestamptz)
returns text
language sql stable parallel safe
begin atomic
  select case when bool_or(span.last_sent_at <= from_time and span.until_at >= to_time) then 'all'
              when count(*) > 0 then 'some' end
    from analytics.counter_unsent('member', counter) span
   where span.last_sent_at < to_time and span.until_at > from_time;
end;
comment on function analytics.member_field_unsent(text, timestamptz, timestamptz) is
'Whether the API did not send a counter of guild members in [from_time, to_time): all of that time, some of it, or NULL. Arguments: counter, by its path in the record, such as contributed; from_time; to_time.';

-- What a counter was at an instant is known as well as the responses around it are close. A guild or player has no schedule of its own: how
-- often it should be observed follows from how often it was, a few responses before the instant and after it.
create or replace function analytics.counter_border(resource text, key text, sample_table text, unsent tstzmultirange, at timestamptz)
returns table (before_at timestamptz, after_at timestamptz, is_watched boolean)
language sql stable parallel safe rows 1
begin atomic
  with near as materialized (
    (select one.observed_at from sync.observation one
      where one.resource = counter_border.resource and one.key = counter_border.key and one.status in ('ok', 'unchanged', 'partial')
        and one.observed_at <= counter_border.at
      order by one.observed_at desc limit 5)
    union all
    (select one.observed_at from sync.observation one
      where one.resource = counter_border.resource and one.key = counter_border.key and one.status in ('ok', 'unchanged', 'partial')
        and one.observed_at > counter_border.at
      order by one.observed_at limit 5)
  ), usual as (
    select percentile_disc(0.5) within group (order by step.ends - step.begins) as every
      from (select near.observed_at as begins, lead(near.observed_at) over (order by near.observed_at) as ends from near) step
     where step.ends > step.begins and not (step.begins <= counter_border.at and step.ends > counter_border.at)
  ), shown as (
    select max(near.observed_at) filter (where near.observed_at <= counter_border.at) as before_at,
           min(near.observed_at) filter (where near.observed_at >= counter_border.at) as after_at
      from near
  ), sent as (
    -- Responses without the counter show nothing of it.
    select case when lacked.begins is null then shown.before_at
                else (select max(one.observed_at) from sync.observation one
                       where one.resource = counter_border.resource and one.key = counter_border.key
                         and one.status in ('ok', 'unchanged', 'partial') and one.observed_at <= lacked.begins) end as before_at,
           case when lacking.ends is null then shown.after_at
                else (select min(one.observed_at) from sync.observation one
                       where one.resource = counter_border.resource and one.key = counter_border.key
                         and one.status in ('ok', 'unchanged', 'partial') and one.observed_at >= lacking.ends) end as after_at,
           lacked.begins is null and shown.after_at is null as is_last, lacked.begins is not null as is_lacking
      from shown
      left join lateral (select lower(span) as begins from unnest(unsent) as span where span @> shown.before_at) lacked on true
      left join lateral (select upper(span) as ends from unnest(unsent) as span where span @> shown.after_at) lacking on true
  ), thinned as (
    select coalesce(max(one.fine_since), '-infinity') as until from sync.tier one where one.sample_table = counter_border.sample_table
  )
  select sent.before_at,
         -- Of older days the last value is left: it is as of the last response of the day. Where that one lacks the counter, nothing may be left.
         case when sent.after_at >= thinned.until then sent.after_at
              else (select one.observed_at from sync.observation one
                     where one.resource = counter_border.resource and one.key = counter_border.key
                       and one.status in ('ok', 'unchanged', 'partial') and one.observed_at >= sent.after_at
                       and coalesce(not unsent @> one.observed_at, true)
                       and (one.observed_at >= thinned.until
                            or not exists (select from sync.observation later
                                            where later.resource = counter_border.resource and later.key = counter_border.key
                                              and later.status in ('ok', 'unchanged', 'partial') and later.observed_at > one.observed_at
                                              and later.observed_at < date_trunc('day', one.observed_at, 'UTC') + interval '24 hours'))
                     order by one.observed_at limit 1) end,
         coalesce(case when counter_border.at < thinned.until
                       then counter_border.at = date_trunc('day', counter_border.at, 'UTC') else true end
                  -- Of a day whose last responses lack it, the number before them is not left.
                  and not (sent.is_lacking and sent.before_at < thinned.until)
                  and (sent.is_last or sent.after_at is not null)
                  -- Numbers, because before version 17 an interval cannot be infinite.
                  and extract(epoch from coalesce(sent.after_at, least(counter_border.at, now()))) - extract(epoch from sent.before_at)
                      <= greatest(300, least(21600, coalesce(2 * extract(epoch from usual.every), 3600))), false)
    from sent cross join usual cross join thinned;
end;
comment on function analytics.counter_border(text, text, text, tstzmultirange, timestamptz) is
'The responses about a key around an instant that had a counter: the last one until then, the first from then on, and whether they are as close as is usual for the key (at most two of its usual intervals, and six hours). After the last response: whether that is so close. Arguments: resource; key; sample_table, which has the counter; unsent, when responses lacked it; at.';
