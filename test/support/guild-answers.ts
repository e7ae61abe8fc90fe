import { guilds } from '../../src/resources/guilds/index.ts'
import { runResource, type WorklistOptions } from '../../src/sync/run/run-resource.ts'
import type { RunResult } from '../../src/sync/run/run-result.ts'
import { headersOf, instantOf, type SyncOptions, type World } from './world.ts'

/** Made-up uuids that are easy to tell apart: `guildId('a')` is of a guild, `playerId(1)` of a player. */
export function guildId(letter: string): string {
  return `${letter.repeat(8)}-0000-4000-8000-000000000000`
}

export function playerId(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

/** One territory as the API sends it (API reference 6.3). */
export function place(letter: string | null, acquired: string | null, fields: object = {}): object {
  const guild = letter === null ? noGuild : { uuid: guildId(letter), name: `Guild ${letter}`, prefix: letter.repeat(3) }
  return {
    guild,
    acquired: acquired === null ? null : `${new Date(instantOf(acquired)).toISOString().slice(0, -5)}.000000Z`,
    location: { start: [0, 0], end: [10, 20] },
    ...fields,
  }
}

const noGuild = { uuid: null, name: null, prefix: null }

/** What a member's record says of the rules while the member hides nothing. */
export const openMember = {
  restrictions: { online_status: false, main_access: false, guild_high_ranked_access: false },
}

/** What a diary says of one member. */
export interface MemberFields {
  readonly rank?: string
  readonly joined?: string
  readonly username?: string
  readonly [field: string]: unknown
}

/** A guild as the API sends it, its members keyed by name; `players` are numbers for `playerId`. */
export function guildBody(
  letter: string,
  players: Readonly<Record<number, MemberFields>>,
  fields: object = {},
): object {
  const members: Record<string, Record<string, unknown>> = {}
  for (const [number, { rank = 'recruit', username = `Player${number}`, joined = '00:00', ...rest }] of Object.entries(
    players,
  )) {
    const ofRank = members[rank] ?? {}
    members[rank] = ofRank
    ofRank[username] = {
      uuid: playerId(Number(number)),
      online: false,
      server: null,
      joined: new Date(instantOf(joined)).toISOString(),
      contributed: 0,
      ...rest,
    }
  }
  return {
    uuid: guildId(letter),
    name: `Guild ${letter}`,
    prefix: letter.repeat(3),
    level: 10,
    xpPercent: 5,
    territories: 0,
    wars: 1,
    raids: 2,
    created: '2020-01-01T00:00:00.000Z',
    online: 0,
    members: { total: Object.keys(players).length, ...members },
    banner: null,
    seasonRanks: {},
    ...fields,
  }
}

/** The API answers about this guild with `body`, which speaks for `at`; then just this guild is synced. */
export async function syncGuild(world: World, body: object, at: string, options: SyncOptions = {}): Promise<RunResult> {
  const key = await answerGuild(world, body, at)
  return await syncGuilds(world, { keys: [key] }, options)
}

/** From now on the API answers about this guild with `body`, which speaks for `at`; the clock is moved there. */
export async function answerGuild({ sandbox, clock }: World, body: object, at: string): Promise<string> {
  const key = 'uuid' in body ? String(body.uuid) : ''
  const instant = instantOf(at)
  if (instant > clock.now()) await clock.advanceTo(instant)
  const headers = headersOf(instant, 120)
  sandbox.setAnswer(`/guild/uuid/${key}`, () => ({ headers, body }))
  return key
}

/** Runs the guilds worklist once. */
export async function syncGuilds(
  { db, api, clock, log, raw = false, trusts = 'api' }: World,
  options: Partial<WorklistOptions> = {},
  {
    plausibleShare = 0.5,
    absences = 2,
    zeroShare = 0.25,
    accept = false,
    notifies = false,
    clock: trusted = trusts,
  }: SyncOptions = {},
): Promise<RunResult> {
  const lines = (level: string) => (_fields: object, message: string) => void log.push(`${level}: ${message}`)
  const runLog = { debug: () => undefined, info: lines('info'), warn: lines('warn'), error: lines('error') }
  const engine = {
    db,
    api,
    clock,
    program: 'test',
    guards: { plausibleShare, absences, zeroShare, clock: trusted, accept },
    raw,
    notifies,
    log: runLog,
  }
  return await runResource(guilds, engine, { concurrency: 1, ...options })
}
