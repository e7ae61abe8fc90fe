import { chance, weights } from '../../generator/draw.ts'
import type { Player, Realm } from '../state.ts'
import { day, hour, liveliness, minute, second, waiting } from '../time.ts'
import { drawWorld } from '../worlds/worlds.ts'
import { type CounterName, keepRise, raise } from './counters.ts'

/** Plans a player's next login after `from` (ms): more likely around the player's own hour of the day. */
export function planLogin(realm: Realm, player: Player, from: number): void {
  const { habit } = player
  if (!habit) return
  let at = from + minute
  do at += waiting(realm.random, (day * 0.6) / habit.sessionsPerDay)
  while (!chance(realm.random, liveliness(at, habit.peak)))
  realm.events.plan(at, (then) => logIn(realm, player, then))
}

/** Logs a player in, who stays for a while. Does nothing when already online. */
export function logIn(realm: Realm, player: Player, at: number): void {
  const { habit } = player
  if (player.session || !habit) return
  const { random, events } = realm
  const world = drawWorld(realm, habit.region)
  const session = { player: player.uuid, world: world.name, login: at, logout: null, hidden: [] }
  player.session = session
  player.lastJoin = at
  player.flushedAt = at
  realm.log.sessions.push(session)
  realm.online.add(player)
  world.players.add(player)
  if (player.hidesOnline) hideSession(player, at)
  else player.shownLastJoin = at

  const here = () => player.session === session
  const length = Math.max(40 * second, habit.meanLength * (0.15 + waiting(random, 0.85)))
  events.plan(at + length, (then) => {
    if (!here()) return
    logOut(realm, player, then)
    planLogin(realm, player, then)
  })
  /** Repeats something while the session lasts, with `least` ms and about `mean` more between. */
  const repeat = (from: number, least: number, mean: number, play: (then: number) => void) =>
    events.plan(from + (least + waiting(random, mean)), (then) => {
      if (!here()) return
      play(then)
      repeat(then, least, mean, play)
    })
  repeat(at, 0, 150 * minute, (then) => hop(realm, player, then))
  repeat(at, 4 * minute, 18 * minute, (then) => flush(realm, player, then))
}

/** Logs a player out; the counters follow at once or some minutes later. */
export function logOut(realm: Realm, player: Player, at: number): void {
  const { session } = player
  if (!session) return
  session.logout = at
  revealSession(player, at)
  player.session = null
  realm.online.delete(player)
  const world = realm.worlds.find((one) => one.players.has(player))
  world?.players.delete(player)
  if (chance(realm.random, 0.6)) flush(realm, player, at)
  else {
    const played = at - player.flushedAt
    realm.events.plan(at + minute + waiting(realm.random, 12 * minute), (then) => {
      // A player who came back meanwhile began to count anew; only what was played before is missing.
      const since = player.flushedAt
      player.flushedAt = then - played
      flush(realm, player, then)
      if (player.session) player.flushedAt = since
    })
  }
}

export function hop(realm: Realm, player: Player, at: number): void {
  const from = worldOf(realm, player)
  if (!from || !player.session || !player.habit) return
  const to = drawWorld(realm, player.habit.region, from.name)
  from.players.delete(player)
  to.players.add(player)
  realm.log.hops.push({ player: player.uuid, at, from: from.name, to: to.name })
}

/** The world a player is on; undefined when offline. */
export function worldOf(realm: Realm, player: Player) {
  return player.session ? realm.worlds.find((world) => world.players.has(player)) : undefined
}

/** Hides or shows a player's online status. */
export function setHiding(realm: Realm, player: Player, hides: boolean, at: number): void {
  if (player.hidesOnline === hides) return
  player.hidesOnline = hides
  realm.log.privacy.push({ player: player.uuid, at, rule: 'onlineStatus', restricted: hides })
  if (hides) {
    // Some answers keep the last known login, some lose it (API reference 7.3).
    player.shownLastJoin = chance(realm.random, 0.5) ? null : player.lastJoin
    if (player.session) hideSession(player, at)
  } else {
    player.shownLastJoin = player.lastJoin
    revealSession(player, at)
  }
}

function hideSession(player: Player, at: number): void {
  player.session?.hidden.push({ from: at, until: null })
}

function revealSession(player: Player, at: number): void {
  const last = player.session?.hidden.at(-1)
  if (last && last.until === null) last.until = at
}

/** What playing an hour raises on average. */
const rates = Object.entries(
  weights(
    'mobsKilled:200 chestsFound:2 dungeons:0.2 worldEvents:0.2 lootruns:0.3 caves:0.03 completedQuests:0.05 ' +
      'contentCompletion:0.3 totalLevel:0.4 pvpDeaths:0.02 pvpKills:0.02',
  ),
) as [CounterName, number][]

/** Brings a player's counters up to what was played since the last flush. */
function flush(realm: Realm, player: Player, at: number): void {
  const { random } = realm
  const hours = Math.min(6, (at - player.flushedAt) / hour)
  const amount = hours * (player.habit?.drive ?? 1)
  /** A whole number whose mean is `mean`. */
  const drawn = (mean: number) => Math.floor(mean * 2 * random() + random())

  raise(player, 'playtime', hours)
  for (const [name, hourly] of rates) raise(player, name, drawn(amount * hourly))
  raise(player, 'wars', player.warsPending)
  player.warsPending = 0
  const alone = drawn(amount * 0.3)
  const withGuild = player.membership ? drawn(amount * 0.6) : 0
  raise(player, 'raids', alone + withGuild)
  raise(player, 'guildRaids', withGuild)
  if (player.membership) contribute(realm, player, amount, withGuild)
  player.flushedAt = at
  keepRise(player, at)
}

function contribute(realm: Realm, player: Player, amount: number, guildRaids: number): void {
  const guild = player.membership?.guild
  if (!guild) return
  const { random } = realm
  raise(player, 'currentGuildRaids', guildRaids)
  const given = chance(random, 0.35) ? 0 : Math.floor(amount * waiting(random, 4e8))
  // Seen now and then without a visible reason: a counter that falls a little.
  raise(player, 'contributed', chance(random, 0.0005) ? -Math.floor(random() * 1e6) : given)
  if (chance(random, guildRaids / 4)) guild.raids += 1
  guild.xpPercent += given / 4e9
  if (guild.xpPercent >= 100) {
    guild.xpPercent = 0
    guild.level += 1
  }
}
