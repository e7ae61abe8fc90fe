import type { Averages, GrowingTable } from '../../sync/resource.ts'
import { guildHour, guildRanking, guildSample, memberCounter, memberPresence } from './tables.ts'

/** How many members of each guild were online in the hours in which there was an answer about it. */
export const guildHours: Averages = {
  table: guildHour,
  of: `select one.key::uuid as guild_uuid, date_trunc('hour', one.observed_at, 'UTC') as hour,
              avg(numbers.online)::double precision as online_avg, max(numbers.online) as online_max
         from sync.observation one
         left join lateral (select sample.online from game.guild_sample sample
                             where sample.guild_uuid = one.key::uuid and sample.observed_at <= one.observed_at
                             order by sample.observed_at desc limit 1) numbers on true
        where one.resource = 'guilds' and one.status in ('ok', 'unchanged', 'partial')
          and one.observed_at >= $1::timestamptz and one.observed_at < $2::timestamptz
        group by 1, 2`,
}

/** A day is often enough for what is long ago, but for how many were online. */
export const guildGrowth: readonly GrowingTable[] = [
  {
    table: guildSample,
    key: ['guildUuid'],
    cell: 'day',
    // An answer may lack it, and a season is reckoned from the last one that did not.
    last: ['wars is not null'],
    averages: guildHours,
  },
  { table: guildRanking, key: ['guildUuid', 'board'], cell: 'day' },
  {
    table: memberCounter,
    key: ['guildUuid', 'playerUuid', 'counter'],
    cell: 'day',
    last: ['value is not null'],
    // A counter that rises above what it once was, has risen by no more than that.
    highest: 'value',
  },
  // When somebody was online last, and until when, and the last login that was told.
  { table: memberPresence, key: ['guildUuid', 'playerUuid'], cell: 'day', last: ['online', 'last_join is not null'] },
]
