import { seededRandom } from '../../base/clock.ts'
import { createSeasons } from './boards/seasons.ts'
import { createPeople, logFirstMembers, planGuildLife, transfer } from './guilds/guilds.ts'
import { createHoldings, createMap, createSheets, planMapChanges, planWars, win } from './guilds/territories.ts'
import { emptyLog, type GameLog, type HistoryLists } from './log.ts'
import { counterAt } from './people/counters.ts'
import { gameNames } from './people/name-changes.ts'
import { planPersonChanges } from './people/person-changes.ts'
import { planLogin, setHiding } from './people/presence.ts'
import { createQueue } from './queue.ts'
import type { Guild, Player, Realm } from './state.ts'
import { day, hour, minute, planTick, recurring } from './time.ts'
import { planRestarts } from './worlds/restarts.ts'
import { createWorlds } from './worlds/worlds.ts'

/** The true history between two instants; instants are ISO text with milliseconds. */
export interface GameHistory extends HistoryLists<string> {
  /** Included. */
  readonly from: string
  /** Not included. */
  readonly to: string
}

type Lasting = 'holds' | 'sessions' | 'glitches'
type Events = { readonly [name in Exclude<keyof GameLog, Lasting>]: GameHistory[name] }

/**
 * What happened in [from, to) (ms since the epoch): events in it, and holds, sessions and glitches that overlap it, those
 * whole. An end that is still to come is null.
 */
function historyBetween(log: GameLog, from: number, to: number): GameHistory {
  const overlaps = (begin: number, end: number | null) => begin < to && (end === null || end > from)
  const { holds, sessions, glitches, ...events } = log
  const happened = Object.entries(events).map(([name, list]: [string, readonly { readonly at: number }[]]) => [
    name,
    list.filter(({ at }) => at >= from && at < to).map((entry) => ({ ...entry, at: iso(entry.at) })),
  ])
  return {
    from: iso(from),
    to: iso(to),
    ...(Object.fromEntries(happened) as Events),
    holds: holds.filter(({ from, until }) => overlaps(from, until)).map((hold) => ({ ...hold, ...span(hold) })),
    sessions: sessions
      .filter(({ login, logout }) => overlaps(login, logout))
      .map((session) => ({
        ...session,
        login: iso(session.login),
        logout: session.logout === null ? null : iso(session.logout),
        hidden: session.hidden.map(span),
      })),
    glitches: glitches
      .filter((glitch) => overlaps(glitch.from, glitch.until))
      .map((glitch) => ({ ...glitch, from: iso(glitch.from), until: iso(glitch.until) })),
  }
}

function span({ from, until }: { readonly from: number; readonly until: number | null }) {
  return { from: iso(from), until: until === null ? null : iso(until) }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

/** How the living world is to be. */
export interface GameOptions {
  /** How many guilds: 60 of them play, the others are small and dormant (default 400, up to 20,000). */
  readonly guilds?: number | undefined
  /** How many people play (default 2,000); members of dormant guilds come on top. */
  readonly players?: number | undefined
  /** How many territories the map has, rounded up to twenties (default 400). */
  readonly territories?: number | undefined
  /** ISO instant at which the game begins (default: the clock when the sandbox starts). */
  readonly startedAt?: string | undefined
  /** How often a territory's resources move, seconds (default 600). */
  readonly resourceSeconds?: number | undefined
  /** Whether one war, one patch and the like happen in three days, as planned, instead of much by chance (default false). */
  readonly isStory?: boolean | undefined
  /** Whether the game patches the items now and then (default: unless an item world was given). */
  readonly patches?: boolean | undefined
}

/** How a game begins. */
interface GameSettings extends Pick<GameOptions, 'guilds' | 'players' | 'territories' | 'isStory'> {
  readonly seed: number
  /** When it begins, ms since the epoch. Some hours before have been played already, so that people are online. */
  readonly startedAt: number
  /** Patches the items and says what that did; null when no patch could be made. Absent: the game patches none. */
  readonly patchItems?: ((seed: number) => Omit<GameLog['itemPatches'][number], 'at'> | null) | undefined
}

/** A simulated world that advances by the second on each request. */
export interface Game {
  /** Everything as it stands; to be read only. */
  readonly realm: Realm
  /** Lets everything happen up to the whole second at or before `at` (ms), and says which second that is. */
  advanceTo(at: number): number
  /** What truly happened in [from, to), ms since the epoch, as far as the game was advanced. */
  history(from: number, to: number): GameHistory
  /** A player's counter (`counterNames`) as it was flushed at an instant (ms); undefined when unknown. */
  counterAt(uuid: string, name: string, at: number): number | undefined
}

const warmUp = 8 * hour

/**
 * Begins a game. The same settings give the same history, whatever instants are asked for: answers never draw a number.
 * The game is played by the whole second, so that a response shows exactly what had happened when it was produced.
 */
export function createGame(settings: GameSettings): Game {
  const { seed, startedAt, guilds = 400, players = 2000, territories, isStory = false } = settings
  const random = seededRandom(seed ^ 0x5eed)
  const origin = Math.floor(startedAt / 1000) * 1000 - warmUp
  const realm: Realm = {
    startedAt: origin + warmUp,
    random,
    names: gameNames(random),
    events: createQueue(origin),
    log: emptyLog(),
    players: new Map(),
    people: [],
    online: new Set(),
    worlds: createWorlds(),
    guilds: new Map(),
    sheets: createSheets(territories),
    territories: new Set(),
    seasons: [],
    runningSeason: null,
  }
  createPeople(realm, guilds, players)
  createMap(realm)
  createHoldings(realm, origin, isStory ? storyHoldings : undefined)
  createSeasons(realm)
  logFirstMembers(realm)
  for (const player of realm.players.values()) planLogin(realm, player, origin)
  planRestarts(realm, origin)
  const patch = (at: number) => {
    const patched = settings.patchItems?.(Math.floor(random() * 2 ** 32))
    if (patched) realm.log.itemPatches.push({ at, ...patched })
  }
  if (isStory) planStory(realm, patch)
  else planByChance(realm, origin, patch)
  let playedTo = realm.startedAt
  realm.events.playUntil(playedTo)

  return {
    realm,
    advanceTo: (at) => {
      const whole = Math.floor(at / 1000) * 1000
      if (whole > playedTo) {
        playedTo = whole
        realm.events.playUntil(whole)
      }
      return playedTo
    },
    history: (from, to) => historyBetween(realm.log, from, to),
    counterAt: (uuid, name, at) => {
      const player = realm.players.get(uuid)
      return player && counterAt(player, name, at)
    },
  }
}

function planByChance(realm: Realm, from: number, patch: (at: number) => void): void {
  planWars(realm, from)
  planGuildLife(realm, from)
  planMapChanges(realm)
  planPersonChanges(realm, from)
  recurring(realm, 60 * hour, 5 * day, patch)
}

/** How many territories the guilds of a story hold at first. */
const storyHoldings = [20, 16, 12, 8]

/**
 * Plans three days in which little happens beside what players do: the second guild makes war on the first and takes twelve
 * territories from it, of which the first takes three back; one of the second's members hides the online status; the items are patched; a captain of
 * the first guild goes over to the second.
 */
function planStory(realm: Realm, patch: (at: number) => void): void {
  const [defender, attacker] = realm.guilds.values()
  if (!attacker || !defender) throw new RangeError('a story needs two guilds')
  const at = (hours: number, play: (now: number) => void) =>
    planTick(realm.events, realm.startedAt + hours * hour, play)
  const player = mostPresent(attacker)
  if (player) at(31.5, (now) => setHiding(realm, player, true, now))
  const targets = [...defender.holdings].slice(0, 12)
  targets.forEach((territory, nth) => {
    at(42 + (nth * 7 * minute) / hour, (now) => win(realm, territory, attacker, now))
    if (nth % 4 === 1) at(45 + (nth * 4 * minute) / hour, (now) => win(realm, territory, defender, now))
  })
  at(46, patch)
  at(54, (now) => {
    const captain = [...defender.members.values()].find(({ rank }) => rank === 'captain')
    if (captain) transfer(realm, captain, attacker, now)
  })
}

/** The member of a guild who plays most without hiding it. */
function mostPresent({ members }: Guild): Player | undefined {
  const playing = ({ habit }: Player) => (habit ? habit.sessionsPerDay * habit.meanLength : 0)
  const shown = [...members.keys()].filter(({ hidesOnline }) => !hidesOnline)
  return shown.sort((one, other) => playing(other) - playing(one))[0]
}
