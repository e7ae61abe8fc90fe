import * as z from 'zod'
import { isUuid } from '../../api/schemas/form/limits.ts'
import { fieldsOf, unknownFields } from '../../api/schemas/form/unknown.ts'
import { readOnlineList } from '../../api/schemas/people/players.ts'
import { redactedIn } from '../../api/schemas/people/redacted.ts'
import { defineResource, type ExpiringTable, type RetainedTable } from '../../sync/declare/resource.ts'
import { inOnlineList } from '../personal.ts'
import { fieldOf, hasFields, knownBy, oneAnswer } from '../record.ts'
import { deriveListings } from './derive.ts'
import { keyOf, normalizeWorld, recordsOf } from './normalize.ts'
import { onlineHour, onlineSample, playerHop, playerListing, worldHistory, worldHour, worldSample } from './tables.ts'

/**
 * From the first accepted answer whose samples are still there to the last one: none is taken that is older than that.
 * @param until another end
 */
const finalRange = (table: string, until = 'max(run.observed_at)') =>
  `select greatest(least(min(run.observed_at), (select min(began_at) from sync.answer_span where resource = 'online-players')),
                   (select fine_since from sync.tier where sample_table = '${table}')) as since, ${until} as until
     from sync.run where run.resource = 'online-players' and run.status in ('ok', 'unchanged', 'partial')`

/** Averages by the hour stay, and all samples without hidden players: logins and logouts are derived from them. */
const onlineGrowth: readonly RetainedTable[] = [
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
const onlinePassing: readonly ExpiringTable[] = [
  { table: playerListing, over: 'lastListedAt' },
  { table: playerHop, over: 'latest' },
]

const aroundPlayers = unknownFields(z.looseObject({ total: z.unknown(), players: z.unknown() }))

/**
 * Who is listed as online, and where: `GET /player?identifier=uuid`, cached for 30 seconds (API reference 2.3, 7.4).
 * Worlds are its records; players come and go as listings and hops, worked out in the database.
 */
export const onlinePlayers = defineResource({
  name: 'online-players',
  schedule: '* * * * *',
  lane: 'live',
  cacheSeconds: 30,
  route: '/player',
  rawDays: 3,
  rawCost: '15 kB a response of 660 players: 44 MB a day when polled every 30 seconds',
  // Of lists without a count: from one poll to the next little changes; but after an hour away a sixth of the worlds may be down.
  plausibleShare: 0.25,
  shrunkenHours: 1 / 6,
  // Answers that are further apart say nothing of the time between them: see analytics.online_watched.
  evidence: { spans: 90 },
  retained: onlineGrowth,
  expiring: onlinePassing,
  file: {
    notSent: [
      {
        is: (body) => hasFields(body, 'total') && fieldsOf(fieldOf(body, 'players')).some(([key]) => !isUuid(key)),
        what: 'who is online by name: lists by uuid are loaded alone, a name does not say for certain who it is',
      },
    ],
    isBody: (body) => {
      const players = fieldsOf(fieldOf(body, 'players'))
      return hasFields(body, 'total') && players.length > 0 && players.every(([key]) => isUuid(key))
    },
  },
  history: worldHistory,
  samples: { worlds: { table: worldSample, key: ['world'] } },
  extract: async (api, { signal, lane = 'live' }) => {
    const answer = await api.players.online({ identifier: 'uuid', signal, lane })
    const { body } = answer
    return { ...oneAnswer(answer), ...recordsOf(readOnlineList(body), redactedIn(body)), around: aroundPlayers(body) }
  },
  keyOf,
  normalize: normalizeWorld,
  ...knownBy(z.unknown()),
  personal: inOnlineList,
  derive: deriveListings,
  afterRetraction: async (sql) => await (await import('./rebuild-listings.ts')).rebuildListings(sql),
  derived: [onlineSample, playerListing, playerHop],
})
