import { chance, pick } from '../../generator/draw.ts'
import { clear, keepRise } from '../people/counters.ts'
import type { Guild, Membership, Player, Realm } from '../state.ts'
import { minute, planTick } from '../time.ts'
import { type Rank, ranks } from './ranks.ts'

/** Lets a player into a guild; what counts one membership begins at 0. A player is in one guild at most. */
export function join(realm: Realm, player: Player, guild: Guild, at: number, rank: Rank = 'recruit'): void {
  if (player.membership) return
  enter(player, guild, at, rank)
  startCounting(player, at)
  logMembership(realm, player, guild, at, { event: 'joined', fromRank: null, toRank: rank })
}

/** Takes a player out of the guild; an owner hands it on first. The last member stays. */
export function leave(realm: Realm, membership: Membership, at: number): boolean {
  if (!handOn(realm, membership, at)) return false
  remove(realm, membership, at)
  return true
}

/** As `leave`, but without a successor: for guilds that end. */
export function remove(realm: Realm, membership: Membership, at: number): void {
  const { guild, player } = membership
  exit(membership)
  logMembership(realm, player, guild, at, { event: 'left', fromRank: membership.rank, toRank: null })
}

/** Moves a player from one guild to another in one instant. */
export function transfer(realm: Realm, membership: Membership, to: Guild, at: number): void {
  const { guild, player } = membership
  if (to === guild || !realm.guilds.has(to.uuid) || !handOn(realm, membership, at)) return
  exit(membership)
  enter(player, to, at, 'recruit')
  startCounting(player, at)
  const ranksOf = { fromRank: membership.rank, toRank: 'recruit' } as const
  logMembership(realm, player, to, at, { event: 'transferred', ...ranksOf, otherGuild: guild.uuid })
}

function setRank(realm: Realm, membership: Membership, rank: Rank, at: number): void {
  const { guild, player, rank: fromRank } = membership
  if (fromRank === rank || player.membership !== membership) return
  membership.rank = rank
  const event = ranks.indexOf(rank) < ranks.indexOf(fromRank) ? 'promoted' : 'demoted'
  logMembership(realm, player, guild, at, { event, fromRank, toRank: rank })
}

/** One step up or down, never to or from owner; sometimes taken back within minutes. */
export function shiftRank(realm: Realm, membership: Membership, at: number): void {
  const { random } = realm
  const { rank } = membership
  const next = ranks[ranks.indexOf(rank) + (chance(random, 0.65) ? -1 : 1)]
  if (rank === 'owner' || next === undefined || next === 'owner') return
  setRank(realm, membership, next, at)
  if (chance(random, 0.15))
    planTick(realm.events, at + (1 + 7 * random()) * minute, (then) => setRank(realm, membership, rank, then))
}

type Change = Omit<Realm['log']['memberships'][number], 'guild' | 'player' | 'at'>

/** Writes a change of a player's place in a guild into the history. */
export function logMembership(realm: Realm, player: Player, guild: Guild, at: number, change: Change): void {
  realm.log.memberships.push({ guild: guild.uuid, player: player.uuid, at, ...change })
}

/** Writes a player into a guild without an event. */
export function enter(player: Player, guild: Guild, at: number, rank: Rank): void {
  const membership = { guild, player, rank, joined: at }
  player.membership = membership
  guild.members.set(player, membership)
}

function exit({ guild, player }: Membership): void {
  guild.members.delete(player)
  player.membership = null
}

/** Resets what counts one membership, from `at` (ms) on. */
function startCounting(player: Player, at: number): void {
  clear(player, 'contributed')
  clear(player, 'currentGuildRaids')
  keepRise(player, at)
}

function handOn(realm: Realm, membership: Membership, at: number): boolean {
  const { guild, rank } = membership
  if (rank !== 'owner') return true
  const others = [...guild.members.values()].filter((one) => one !== membership)
  if (others.length === 0) return false
  const best = Math.min(...others.map((one) => ranks.indexOf(one.rank)))
  const heir = pick(
    realm.random,
    others.filter((one) => ranks.indexOf(one.rank) === best),
  )
  setRank(realm, membership, 'chief', at)
  setRank(realm, heir, 'owner', at)
  return true
}
