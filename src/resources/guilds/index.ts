import * as z from 'zod'
import { isFields } from '../../api/schemas/form/unknown.ts'
import { guildMemberSchema, guildSchema } from '../../api/schemas/guilds.ts'
import type { Sql } from '../../db/database.ts'
import {
  type Averages,
  defineWorklist,
  type Entity,
  type RetainedTable,
  type Row,
} from '../../sync/declare/resource.ts'
import { guildListHistory } from '../guild-list/tables.ts'
import { inGuilds } from '../personal.ts'
import { aboutAnother, fieldOf, hasFields, knownBy, oneAnswer, uuidField } from '../record.ts'
import { findGuilds, guildsCalled, guildsLike, lookUpGuilds, planGuilds } from './keys.ts'
import { incompleteReason, normalizeGuild } from './normalize.ts'
import {
  guildHistory,
  guildHour,
  guildRanking,
  guildSample,
  guildSeason,
  memberCounter,
  memberCounterDip,
  memberHistory,
  memberPresence,
} from './tables.ts'

/** How many members of each guild were online in the hours in which there was an answer about it. */
const guildHours: Averages = {
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

/** Where counters of members fell: only these cannot be reckoned from their first and last number. */
const counterDips: Averages = {
  table: memberCounterDip,
  of: `select fallen.guild_uuid, fallen.player_uuid, fallen.counter, date_trunc('hour', fallen.observed_at, 'UTC') as hour,
              max(fallen.observed_at) as fell_at
         from (select one.guild_uuid, one.player_uuid, one.counter, one.observed_at, one.value,
                      lag(one.value) over (partition by one.guild_uuid, one.counter, one.player_uuid order by one.observed_at) as previous
                 from game.member_counter one
                where one.observed_at >= $1::timestamptz and one.observed_at < $2::timestamptz and one.value is not null) fallen
         left join lateral (select before.value from game.member_counter before
                             where before.guild_uuid = fallen.guild_uuid and before.counter = fallen.counter
                               and before.player_uuid = fallen.player_uuid and before.observed_at < $1::timestamptz
                               and before.value is not null
                             order by before.observed_at desc limit 1) before on fallen.previous is null
        where fallen.value < coalesce(fallen.previous, before.value)
        group by 1, 2, 3, 4`,
}

/**
 * From the first answer about any guild, also of a lake, or a later instant, to an hour before the last. An answer that is older than
 * that when it comes opens its hour again.
 */
const settledSince = (later: string) =>
  `select greatest(least(min(item.first_observed_at),
                         (select min(span.began_at) from sync.source_span span where span.resource = 'guilds')), ${later}) as since, max(item.observed_at) - interval '1 hour' as until
     from sync.work_item item where item.resource = 'guilds'`

/** Older answers or samples are gone, and averages are all that is left of them. */
const thinned = `(select max(fine_since) from sync.tier where sample_table in ('game.guild_sample', 'ledger/guilds'))`

/** A day is often enough for what is long ago, but for how many were online. */
const guildGrowth: readonly RetainedTable[] = [
  {
    table: guildSample,
    key: ['guildUuid'],
    cell: 'day',
    // An answer may lack it, and a season is reckoned from the last one that did not.
    last: ['wars is not null'],
    averages: guildHours,
    finalRange: settledSince(thinned),
  },
  { table: guildRanking, key: ['guildUuid', 'board'], cell: 'day' },
  {
    table: memberCounter,
    key: ['guildUuid', 'playerUuid', 'counter'],
    cell: 'day',
    last: ['value is not null'],
    // A counter that rises above what it once was, has risen by no more than that.
    highest: 'value',
    averages: counterDips,
    // What is left of older samples falls where they did, or nowhere.
    finalRange: settledSince('null'),
  },
  // When a member was online last, and until when, and the last login.
  { table: memberPresence, key: ['guildUuid', 'playerUuid'], cell: 'day', last: ['online', 'last_join is not null'] },
]

/** So many of the latest samples of a member: of responses by turns, half are of the newer cache. */
const LATEST_SAMPLES = 20

/**
 * Whether a member has given more, or was there later, than all samples before say: then the response is no copy of hours ago. What a member
 * has given rises from joining on, whatever else falls. Nothing is compared of who joined again, or hid it, in between.
 * @param members who were in the response before, too
 */
async function isNewer(sql: Sql, members: readonly Row[], samples: Entity['samples'], at: Date): Promise<boolean> {
  const given = samples?.counters?.filter(({ counter }) => counter === 'contributed') ?? []
  const valueIn = (rows: readonly Row[], column: string) => {
    const values = new Map(rows.map((row) => [row.playerUuid, row[column]]))
    return members.map(({ playerUuid }) => values.get(playerUuid) ?? null)
  }
  const most = (column: string, table: string) =>
    `(select case when bool_and(n is not null) then max(n) end from (select ${column} n from ${table} kept
 where kept.guild_uuid = sent.guild_uuid and kept.player_uuid = sent.player_uuid and observed_at < $1
 order by observed_at desc limit ${LATEST_SAMPLES}) latest)`
  const second = (instant: string) => `date_trunc('second', ${instant})`
  const [found] = await sql.query<{ isNewer: boolean }>(
    `select exists (select from unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::float8[], $6::timestamptz[])
 sent(guild_uuid, player_uuid, joined, given, login) join game.guild_member member using (guild_uuid, player_uuid)
 where member.valid_until = 'infinity' and ${second('member.joined')} = ${second('sent.joined')}
 and (given > ${most('value', `(select * from game.member_counter where counter = 'contributed')`)}
 or ${second('login')} > ${second(most('last_join', 'game.member_presence'))})) as "isNewer"`,
    [
      at,
      ...['guildUuid', 'playerUuid', 'joined'].map((column) => members.map((row) => row[column] ?? null)),
      valueIn(given, 'value'),
      valueIn(samples?.presence ?? [], 'lastJoin'),
    ],
  )
  return found?.isNewer === true
}

/** A guild with its members by rank, and their total. */
const guildWithMembers = guildSchema.extend({
  members: z.record(z.string(), z.union([z.number(), z.record(z.string(), guildMemberSchema)])).nullish(),
})

/** Guilds with their members, one answer per guild: `GET /guild/uuid/{uuid}`, cached for two minutes (API reference 6.1, 6.2). */
export const guilds = defineWorklist({
  name: 'guilds',
  schedule: '*/2 * * * *',
  cacheSeconds: 120,
  route: '/guild/uuid/{uuid}',
  rawDays: 7,
  rawCost: "2 to 10 kB a response: 190 to 760 MB a day, with the players, at a guest's whole budget (50 a minute)",
  backfill: { keys: 15_500, rowsPerKey: 100 },
  file: {
    // An entry of a board of guilds has how many members there are.
    isBody: (body) =>
      hasFields(body, 'uuid', 'name', 'prefix') && isFields(fieldOf(body, 'members')) && !hasFields(body, 'username'),
    notSent: [
      {
        is: (body) => hasFields(body, 'members') && ['joined', 'left'].some((change) => hasFields(body, change)),
        what: 'the members of a guild with who joined or left, made from responses',
      },
      {
        is: (body) => hasFields(body, 'name', 'prefix', 'members') && !hasFields(body, 'uuid'),
        what: 'a guild without its uuid: of 2023, of version 1 of the API, or made from responses',
      },
    ],
  },
  keyFlag: 'guild',
  keySource: 'guild-list',
  evidence: { days: guildHours },
  retained: guildGrowth,
  history: guildHistory,
  relatedHistories: {
    members: {
      ...memberHistory,
      absence: 'own',
      spellColumn: 'joined',
      corroborated: { joined: 'joined', rank: 'rank' },
      isNewer,
      ...knownBy(guildMemberSchema.extend({ rank: guildMemberSchema.shape.username })),
    },
  },
  samples: {
    guild: { table: guildSample, key: ['guildUuid'], counters: ['level', 'wars', 'raids'] },
    seasons: { table: guildSeason, key: ['guildUuid', 'season'], listedBy: 'season' },
    rankings: { table: guildRanking, key: ['guildUuid', 'board'], listedBy: 'board' },
    counters: {
      table: memberCounter,
      key: ['guildUuid', 'counter', 'playerUuid'],
      listedBy: 'counter',
      counters: ['value'],
    },
    presence: { table: memberPresence, key: ['guildUuid', 'playerUuid'] },
  },
  listing: { resource: 'guild-list', history: guildListHistory },
  plan: planGuilds,
  find: findGuilds,
  lookUp: lookUpGuilds,
  holders: guildsCalled,
  similar: guildsLike,
  extractOne: async (api, uuid, { signal, lane }) => {
    const answer = await api.guilds.byUuid(uuid, { signal, lane })
    const validationError = aboutAnother(answer.body, uuid) ?? incompleteReason(answer.body)
    return { records: [answer.body], ...oneAnswer(answer), validationError }
  },
  keyOf: (record) => uuidField(record, 'uuid'),
  normalize: normalizeGuild,
  ...knownBy(guildSchema, guildWithMembers),
  personal: inGuilds,
})
