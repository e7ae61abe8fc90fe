create or replace function analytics.gained(kind text, counter text, entity_name text, from_time timestamptz, to_time timestamptz)
returns table (entity text, name text, gained double precision, at_most double precision, quality text, coverage real)
language sql stable parallel safe set jit = off set plan_cache_mode = force_generic_plan
begin atomic
  select who.entity_key, who.name, cell.gained, cell.at_most, cell.quality, cell.coverage
    from analytics.counted_entity(kind, counter, entity_name) who
   cross join lateral analytics.bounded(from_time, to_time, interval '1 day') period
   cross join lateral analytics.counter_cells(kind, who.owner, who.part, counter, array[period.begins], array[period.ends]) cell;
end;
comment on function analytics.gained(text, text, text, timestamptz, timestamptz) is
'How much a counter of one guild, player or character rose in [from_time, to_time). quality: exact (responses as close as usual lie around both borders; a rise is dated by the response that shows it); at_least (they do not: only what is certainly within counts, and at_most is the most it can be, where that can be known); clamped (the counter dipped or jumped and came back within a week: not counted twice); reset (it fell for good: counted anew from there); unknown (no response in that time shows it, or it is hidden or was not sent; gained is NULL). Of a number that goes up and down, such as online, it is the difference, which may be negative. coverage: the share of the time in which responses lie as close as usual, as far as the ledger reaches. Arguments: kind, such as guild; counter, as in analytics.counter; entity_name, a uuid or name, of members guild/player, of leaderboards a guild or player, of characters and professions player/character with the uuid, nickname or class of the character; from_time; to_time.';
