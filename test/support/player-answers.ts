import { restrictionVocabulary } from '../../src/api/schemas/people/restrictions.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { players } from '../../src/resources/players/index.ts'
import type { PrivacyPolicy } from '../../src/sync/privacy/restrictions/rule-source.ts'
import { runResource, type WorklistOptions } from '../../src/sync/run/run-resource.ts'
import type { RunResult } from '../../src/sync/run/run-result.ts'
import { playerId } from './guild-answers.ts'
import { headersOf, instantOf, timeOf, type World } from './world.ts'

/** Who is where: `playerId` numbers by world; the world `-` stands for none given. */
export type Online = Readonly<Record<string, readonly number[]>>

/** The list of who is online as the API sends it (API reference 7.4). Without `hidden`, no player hides. */
export function onlineBody(online: Online, hidden: number | null = 0): object {
  const players: Record<string, string | null> = {}
  for (const [world, numbers] of Object.entries(online)) {
    for (const number of numbers) players[playerId(number)] = world === '-' ? null : world
  }
  return { ...(hidden === null ? {} : { total: Object.keys(players).length + hidden }), players }
}

/** The API answers with this list, which speaks for `at`; it is synced once. */
export async function syncOnline(world: World, body: object, at: string): Promise<RunResult> {
  const { sandbox, clock } = world
  const instant = instantOf(at)
  if (instant > clock.now()) await clock.advanceTo(instant)
  const headers = headersOf(instant, 30)
  sandbox.setAnswer('/player', () => ({ headers, body }))
  return await world.syncNow(onlinePlayers, { raw: world.raw ?? false })
}

/** What a profile says of the rules while the player hides nothing. */
const nothingHidden = Object.fromEntries(restrictionVocabulary.map((rule) => [rule, false]))

/** A profile as the API sends it (API reference 7.1); instants in `fields.lastJoin` are those of a diary. */
export function profile(
  number: number,
  fields: { readonly lastJoin?: string | null; readonly [name: string]: unknown } = {},
) {
  const { lastJoin = null, ...rest } = fields
  return {
    uuid: playerId(number),
    username: `Player${number}`,
    online: false,
    server: null,
    rank: 'Player',
    guild: null,
    restrictions: nothingHidden,
    ...rest,
    lastJoin: lastJoin === null ? null : new Date(instantOf(lastJoin)).toISOString(),
  }
}

/** The API answers about this player with `body` (null: it knows no such player), which speaks for `at`; just this player is synced. */
export async function syncPlayer(
  world: World,
  number: number,
  body: object | null,
  at: string,
  status = 404,
  privacy: PrivacyPolicy = 'anonymize',
  notifies = false,
): Promise<RunResult> {
  const { sandbox, clock } = world
  const instant = instantOf(at)
  if (instant > clock.now()) await clock.advanceTo(instant)
  const headers = headersOf(instant, 120)
  const refusal = { status, body: { error: status === 403 ? 'Forbidden' : 'NotFound', detail: 'refused' } }
  sandbox.setAnswer(`/player/${playerId(number)}`, () => (body === null ? refusal : { headers, body }))
  return await syncPlayers(world, { keys: [playerId(number)] }, privacy, false, notifies)
}

/** The same response of two cache windows, the first one ten minutes before `at`: it confirms what the player restricts. */
export async function confirmPlayer(
  world: World,
  number: number,
  body: object,
  at: string,
  privacy: PrivacyPolicy = 'anonymize',
): Promise<RunResult> {
  await syncPlayer(world, number, body, tenMinutesBefore(at), 404, privacy)
  return await syncPlayer(world, number, body, at, 404, privacy)
}

export function tenMinutesBefore(at: string): string {
  return timeOf(new Date(instantOf(at) - 600_000))
}

/** Runs the players worklist once. */
export async function syncPlayers(
  { db, api, clock, log, raw = false, trusts = 'api' }: World,
  options: Partial<WorklistOptions> = {},
  privacy: PrivacyPolicy = 'anonymize',
  accept = false,
  notifies = false,
): Promise<RunResult> {
  const lines = (level: string) => (_fields: object, message: string) => void log.push(`${level}: ${message}`)
  const runLog = { debug: () => undefined, info: lines('info'), warn: lines('warn'), error: lines('error') }
  const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25, clock: trusts, accept }
  return await runResource(
    players,
    { db, api, clock, program: 'test', guards, privacy, raw, notifies, log: runLog },
    { concurrency: 1, ...options },
  )
}
