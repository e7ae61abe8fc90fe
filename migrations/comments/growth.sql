comment on table sync.tier is
  'How far back each growing table has all of its rows, and the ledger all accepted answers of a resource. Without a row: all the way.';
comment on column sync.tier.sample_table is
  'The table, such as game.world_sample; ledger/ and a resource, such as ledger/guilds; raw/ and a resource for the raw answers of what the ledger does not know any more.';
comment on column sync.tier.fine_since is
  'From then on every row is there; of older ones what the README''s table of tiers says. NULL: all of them are there.';
comment on column sync.tier.coarse_since is
  'From then on the coarser tier is there; older than that is one row per key, and nothing of the ledger. NULL: all of it is there.';
comment on column sync.tier.averaged_until is
  'Before then there are averages of every full hour although its samples are there too. NULL: averages are made when samples go.';
comment on column sync.tier.checked_at is
  'When the table was last looked after, by the clock of the machine that did.';

comment on table game.world_hour is
  'How many players were listed on a world in an hour: what stays of the rows of game.world_sample that are older than their retention.';
comment on column game.world_hour.world is
  'Name of the world.';
comment on column game.world_hour.hour is
  'The full hour (UTC).';
comment on column game.world_hour.online_avg is
  'Players listed there, on average over the time that it was up and somebody looked.';
comment on column game.world_hour.online_max is
  'The most at once.';

comment on table game.online_hour is
  'How many players were online in an hour: what stays of the rows of game.online_sample that are older than their retention.';
comment on column game.online_hour.hour is
  'The full hour (UTC).';
comment on column game.online_hour.total_avg is
  'Players online, hidden ones included, on average over total_seconds. NULL: not known.';
comment on column game.online_hour.total_max is
  'The most at once. NULL: not known.';
comment on column game.online_hour.total_seconds is
  'Seconds of the hour for which an answer told the total.';
comment on column game.online_hour.hidden_avg is
  'Players who hid, on average over hidden_seconds. NULL: not known.';
comment on column game.online_hour.hidden_seconds is
  'Seconds of the hour for which the number of hidden players is known.';

comment on table game.guild_hour is
  'How many members of a guild were online in an hour: what stays of that number in the rows of game.guild_sample that are older than their retention.';
comment on column game.guild_hour.guild_uuid is
  'The guild.';
comment on column game.guild_hour.hour is
  'The full hour (UTC), in which there was an answer about the guild.';
comment on column game.guild_hour.online_avg is
  'Members online by the guild''s own count, on average over the answers of the hour. NULL: none told.';
comment on column game.guild_hour.online_max is
  'The most that an answer of the hour told. NULL: none did.';

comment on table sync.answer_span is
  'From when to when accepted answers of a resource came without a break: what stays of the runs that are older than the retention of the ledger.';
comment on column sync.answer_span.resource is
  'The resource.';
comment on column sync.answer_span.began_at is
  'The instant that the first of the answers speaks for.';
comment on column sync.answer_span.ended_at is
  'The instant that the last of them speaks for; of online-players, each answer is at most 90 seconds after the one before.';

comment on table game.member_counter_dip is
  'Hours in which a counter of a member of a guild was told lower than before: only these counters have to be looked at closely. Made ahead, until sync.tier.averaged_until.';
comment on column game.member_counter_dip.guild_uuid is
  'The guild.';
comment on column game.member_counter_dip.player_uuid is
  'The member.';
comment on column game.member_counter_dip.counter is
  'The counter, such as contributed.';
comment on column game.member_counter_dip.hour is
  'The full hour (UTC).';
comment on column game.member_counter_dip.fell_at is
  'The instant of the last answer of the hour that told less than the one before.';
