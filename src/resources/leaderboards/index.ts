import * as z from 'zod'
import type { Api } from '../../api/client.ts'
import { BadRequest, NotFound } from '../../api/errors.ts'
import { known } from '../../api/schemas/form/field-meta.ts'
import { leaderboardEntrySchema } from '../../api/schemas/leaderboards.ts'
import { RetryableError } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import { type Answered, defineWorklist, type Named } from '../../sync/declare/resource.ts'
import { onBoards } from '../personal.ts'
import { fieldOf, hasFields, knownBy, oneAnswer, textField } from '../record.ts'
import { normalizeBoard } from './normalize.ts'
import { leaderboardHistory, leaderboardPlace } from './tables.ts'

/** How many places a board has at most where nothing else is asked for (API reference 3.6). */
const usualPlaces = 100

const knownFields = known(Object.keys(leaderboardEntrySchema.shape))
const documentSchema = z.looseObject({ type: z.string(), kind: z.string(), fields: z.array(knownFields).nullish() })

/** A wrong list must not become thousands of requests; there were about 80 so far. */
const mostBoards = 500

/**
 * Leaderboards, one answer per board: `GET /leaderboards/types`, `GET /leaderboards/{type}`, cached for ten minutes (API
 * reference 2.3, 3.6).
 */
export const leaderboards = defineWorklist({
  name: 'leaderboards',
  // In a guest's minute 50 boards: of the hour less than a fiftieth of the bucket.
  schedule: '51 * * * *',
  cacheSeconds: 600,
  route: '/leaderboards/{type}',
  file: {
    isRecord: (entry, key) =>
      /^\d+$/.test(key) &&
      hasFields(entry, 'uuid') &&
      ['score', 'metaScore', 'level', 'xp'].some((one) => hasFields(entry, one)),
  },
  rawDays: 3,
  rawCost: '30 kB a response: 58 MB a day of 80 boards',
  listLimit: { parameter: 'resultLimit', usual: usualPlaces },
  keyFlag: 'board',
  keySource: 'leaderboards',
  history: leaderboardHistory,
  samples: { places: { table: leaderboardPlace, key: ['type', 'place'], isContent: true } },
  retained: [{ table: leaderboardPlace, key: ['type', 'place'], cell: 'day' }],
  derive: emptyPlaces,
  listKeys: async (api, { signal, lane }) => {
    const { body } = await api.leaderboards.types({ signal, lane })
    const names = (Array.isArray(body) ? body : Object.values(body)).filter(isName)
    if (names.length > mostBoards) throw new RetryableError(`${names.length} leaderboards are listed; about 80 so far`)
    return names
  },
  plan: async () => undefined,
  find: findBoards,
  lookUp: lookUpBoards,
  holders: async () => [],
  similar: async () => [],
  extractOne: async (api, type, { signal, lane }) => {
    try {
      const answer = await api.leaderboards.get(type, { signal, lane })
      return { records: [{ type, body: answer.body }], ...oneAnswer(answer) }
    } catch (error) {
      // The service calls a board that it does not have a bad request.
      if (!(error instanceof BadRequest)) throw error
      const { respondedAt, dates } = error
      throw new NotFound({
        ...error,
        objects: {},
        respondedAt: respondedAt ?? undefined,
        dates: dates ?? undefined,
      })
    }
  },
  keyOf: (record) => textField(record, 'type'),
  bodyOf: (record) => fieldOf(record, 'body'),
  normalize: normalizeBoard,
  ...knownBy(documentSchema),
  personal: onBoards,
})

/** What can stand in a path, and tells one board from another. */
function isName(name: unknown): name is string {
  return typeof name === 'string' && /^[\w-]{1,100}$/.test(name)
}

/** The board of that name, if it is on the worklist. */
async function findBoards(sql: Sql, name: string): Promise<Named[]> {
  return await sql.query<Named>(
    `select item.key, item.key as label from sync.work_item item where item.resource = 'leaderboards' and item.key = $1`,
    [name],
  )
}

/** The board of that name, if the API lists it. */
async function lookUpBoards(api: Api, name: string): Promise<Named[]> {
  const { body } = await api.leaderboards.types()
  const names: unknown[] = Array.isArray(body) ? body : Object.values(body)
  return names.includes(name) ? [{ key: name, label: name }] : []
}

/**
 * Empties the places that enough responses in a row have lacked, from the first of these on. A board without any place is a
 * shrunken one; where its entries cannot be read, it says nothing.
 * @returns how many are empty now
 */
async function emptyPlaces(sql: Sql, { recordFacts, ...answered }: Answered): Promise<number> {
  let emptied = 0
  for (const [type, facts] of recordFacts)
    if (Array.isArray(facts)) emptied += await emptyPlacesOf(sql, type, facts, answered)
  return emptied
}

async function emptyPlacesOf(
  sql: Sql,
  type: string,
  seen: readonly unknown[],
  { at, complete, corroborate }: Pick<Answered, 'at' | 'complete' | 'corroborate'>,
): Promise<number> {
  const places = complete ? await missingPlaces(sql, type, seen, at) : []
  const missing = places.map((place) => `${type}/${place}`)
  const policy = seen.length > 0 ? 'empty place' : 'missing from shrunken'
  const gone = await corroborate('empty place', missing, type, policy)
  if (gone.length === 0) return 0
  await sql.query(
    `insert into game.leaderboard_place (type, place, observed_at, reason)
     select $1, place, at, 'empty' from unnest($2::int[], $3::timestamptz[]) as gone(place, at)
     on conflict do nothing`,
    [type, gone.map(({ subject }) => Number(subject.slice(type.length + 1))), gone.map(({ firstAt }) => firstAt)],
  )
  return gone.length
}

/**
 * Places that a response lacks and that are not empty, as far as is known. A list that reaches as far as is usual may end there because no
 * more was asked for.
 */
async function missingPlaces(sql: Sql, type: string, seen: readonly unknown[], at: Date): Promise<number[]> {
  const rows = await sql.query<{ place: number }>(
    `select missed.place
       from (select max(place) as place from unnest($2::int[]) as place) lowest
      cross join generate_series(1, case when lowest.place >= $4 then lowest.place
                                         else (select max(known.place) from game.leaderboard_place known where known.type = $1) end) as missed(place)
       left join unnest($2::int[]) as seen(place) on seen.place = missed.place
      cross join lateral (select latest.reason from game.leaderboard_place latest
                           where latest.type = $1 and latest.place = missed.place and latest.observed_at <= $3
                           order by latest.observed_at desc limit 1) last
      where seen.place is null and last.reason is distinct from 'empty'`,
    [type, seen, at, usualPlaces],
  )
  return rows.map(({ place }) => place)
}
