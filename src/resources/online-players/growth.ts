import type { ExpiringTable, RetainedTable } from '../../sync/declare/resource.ts'
import { onlineHour, onlineSample, playerHop, playerListing, worldHour, worldSample } from './tables.ts'

/**
 * From the first accepted answer whose samples are still there to the last one: none is taken that is older than that.
 * @param until another end
 */
const finalRange = (table: string, until = 'max(run.observed_at)') =>
  `select greatest(least(min(run.observed_at), (select min(began_at) from sync.answer_span where resource = 'online-players')),
                   (select fine_since from sync.tier where sample_table = '${table}')) as since, ${until} as until
     from sync.run where run.resource = 'online-players' and run.status in ('ok', 'unchanged', 'partial')`

/** Averages by the hour stay, and all samples without hidden players: logins and logouts are derived from them. */
export const onlineGrowth: readonly RetainedTable[] = [
  {
    table: onlineSample,
    key: [],
    cell: 'month',
    every: ['hidden = 0'],
    averages: {
      table: onlineHour,
      of: `select part.hour, sum(part.total * part.seconds) / nullif(sum(part.seconds) filter (where part.total is not null), 0) as total_avg,
                  max(part.total) as total_max, coalesce(sum(part.seconds) filter (where part.total is not null), 0) as total_seconds,
                  sum(part.hidden * part.seconds) / nullif(sum(part.seconds) filter (where part.hidden is not null), 0) as hidden_avg,
                  coalesce(sum(part.seconds) filter (where part.hidden is not null), 0) as hidden_seconds
             from (select moment.hour, known.total, known.hidden,
                          extract(epoch from least(known.ends, moment.hour + interval '1 hour')
                                             - greatest(known.begins, moment.hour))::double precision as seconds
                     from analytics.online_known($1::timestamptz, $2::timestamptz) known
                    cross join lateral generate_series(date_trunc('hour', known.begins, 'UTC'), known.ends - interval '1 microsecond',
                                                       interval '1 hour') as moment(hour)) part
            group by part.hour`,
    },
    finalRange: finalRange('game.online_sample'),
  },
  {
    table: worldSample,
    key: ['world'],
    cell: 'month',
    averages: {
      table: worldHour,
      of: 'select world, hour, online_avg, online_max from analytics.world_peak($1::timestamptz, $2::timestamptz)',
    },
    // A world that the last answer lacks may have been down since then.
    finalRange: finalRange(
      'game.world_sample',
      `least(max(run.observed_at), (select min(first_at) from sync.claim where resource = 'online-players' and kind in ('missing', 'unlisted', 'appeared')))`,
    ),
  },
]

/** Listings and hops: a row each time a player comes, goes or moves. */
export const onlinePassing: readonly ExpiringTable[] = [
  { table: playerListing, over: 'lastListedAt' },
  { table: playerHop, over: 'latest' },
]
