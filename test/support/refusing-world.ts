import { guildId, playerId, syncGuilds } from './guild-answers.ts'
import { profile, syncPlayers } from './player-answers.ts'
import { instantOf, worldOf } from './world.ts'

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Record<string, string>
}

export const forbidden = { status: 403, body: { error: 'Forbidden', detail: 'This profile is private.', code: 403 } }
export const notFound = { status: 404, body: { error: 'NotFound', detail: 'Not found.', code: 404 } }
const requestId = '7c0e1f2a5b3d4968a1b2c3d4e5f60718'
const html = '<!DOCTYPE html><html><head><title>Attention Required!</title></head></html>'

/** What stands before the application says with a status. */
export const notOfTheApplication = (status: number) => [
  { status, body: { message: 'no Route matched with those values', request_id: requestId } },
  { status, body: { message: 'Forbidden' } },
  { status, headers: { 'content-type': 'text/html' }, body: html },
  { status, body: '' },
  { status, body: {} },
]

export const shown = (number: number) =>
  profile(number, { firstJoin: '2014-11-11T00:00:00.000Z', playtime: 7, characters: {} })
export const owner = { 1: { rank: 'owner' }, 2: {} }

/** A world whose API refuses keys, and what follows from that. */
export function refusingWorld(kind: Parameters<typeof worldOf>[0]) {
  const world = worldOf(kind)
  const { rows } = world
  const playerAnswers = (number: number, answer: Answer) =>
    world.sandbox.setAnswer(`/player/${playerId(number)}`, () => answer)
  const guildAnswers = (letter: string, answer: Answer) =>
    world.sandbox.setAnswer(`/guild/uuid/${guildId(letter)}`, () => answer)
  const at = (when: string) => world.clock.advanceTo(instantOf(when))
  const ask = async (when: string, ...numbers: readonly number[]) => {
    await at(when)
    return await syncPlayers(world, { keys: numbers.map(playerId) })
  }
  const askGuild = async (when: string, letter = 'a') => {
    await at(when)
    return await syncGuilds(world, { keys: [guildId(letter)] })
  }
  const counters = () => rows('select right(player_uuid::text, 1), value from game.player_counter order by 1')
  const erased = () => rows('select right(player_uuid::text, 1), field_group from sync.privacy_action order by 1')
  const actions = () => rows(`select guard, reason from sync.guard_action where guard = 'mass-refusal'`)
  const ends = () =>
    rows(`select valid_until from game.guild union all select valid_until from game.guild_member order by 1`)
  const pending = () =>
    rows(`select right(subject, 1), kind from sync.claim where kind in ('gone', 'forbidden') order by 1`)
  return { world, rows, playerAnswers, guildAnswers, at, ask, askGuild, counters, erased, actions, ends, pending }
}
