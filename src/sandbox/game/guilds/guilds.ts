import { between, chance, pick } from '../../generator/draw.ts'
import { clear, keepRise } from '../people/counters.ts'
import { createPlayer } from '../people/players.ts'
import type { Guild, Membership, Player, Realm } from '../state.ts'
import { day, hour, liveliness, minute, planTick, recurring, repeating, waiting } from '../time.ts'
import { type Rank, ranks } from './ranks.ts'
import { take, touchHoldings } from './territories.ts'

/** Lets a player into a guild; what counts one membership begins at 0. A player is in one guild at most. */
function join(realm: Realm, player: Player, guild: Guild, at: number, rank: Rank = 'recruit'): void {
  if (player.membership) return
  enter(player, guild, at, rank)
  startCounting(player, at)
  logMembership(realm, player, guild, at, { event: 'joined', fromRank: null, toRank: rank })
}

/** Takes a player out of the guild; an owner hands it on first. The last member stays. */
function leave(realm: Realm, membership: Membership, at: number): boolean {
  if (!handOn(realm, membership, at)) return false
  remove(realm, membership, at)
  return true
}

/** As `leave`, but without a successor: for guilds that end. */
function remove(realm: Realm, membership: Membership, at: number): void {
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
function shiftRank(realm: Realm, membership: Membership, at: number): void {
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
function logMembership(realm: Realm, player: Player, guild: Guild, at: number, change: Change): void {
  realm.log.memberships.push({ guild: guild.uuid, player: player.uuid, at, ...change })
}

/** Writes a player into a guild without an event. */
function enter(player: Player, guild: Guild, at: number, rank: Rank): void {
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

/** Guilds that play; all others are small and dormant. */
const playing = 60
const fighting = 18

/** Adds the first guilds and players: `players` people who play, and the members of the dormant guilds besides. */
export function createPeople(realm: Realm, guildCount: number, playerCount: number): void {
  const free: Player[] = []
  for (let nth = 0; nth < playerCount; nth++) free.push(createPlayer(realm, true, nth % 4 !== 0))
  // The counters of every fourth say that no guild has them.
  const members = free.filter((_, nth) => nth % 4 !== 0)
  for (let nth = 0; nth < Math.min(playing, guildCount); nth++) {
    const size = Math.max(1, Math.min(150, Math.round(0.075 * playerCount * 0.905 ** nth)))
    const people = members.splice(0, size)
    // A guild has at least its owner, also when the others have taken everybody.
    placeMembers(
      realm,
      createGuild(realm, nth < fighting, 0.95 ** nth),
      people.length > 0 ? people : [createPlayer(realm, false, true)],
    )
  }
  for (let nth = playing; nth < guildCount; nth++)
    placeMembers(
      realm,
      createGuild(realm, false, 0.2),
      Array.from({ length: pick(realm.random, [1, 1, 1, 2, 2, 3, 5]) }, () => createPlayer(realm, false, true)),
    )
  addQuirks(realm)
}

/** Adds a guild without members. `size` 0 .. 1 decides level, wars and raids; 0 for a guild founded now. */
function createGuild(realm: Realm, fights: boolean, size: number, at?: number): Guild {
  const { random, names } = realm
  const name = names.guild()
  const guild: Guild = {
    uuid: names.uuid(),
    name,
    prefix: names.prefix(name),
    created: at ?? Math.floor(realm.startedAt - (30 + 2500 * random()) * day),
    members: new Map(),
    level: size === 0 ? 1 : between(random, 8, 20) + Math.floor(size * 90),
    xpPercent: size === 0 ? 0 : between(random, 0, 99),
    wars: !fights && size > 0 && chance(random, 0.22) ? null : Math.floor(fights ? size ** 2 * 90_000 : size * 300),
    raids: Math.floor(size ** 2 * 40_000 * random()),
    fights,
    seat: null,
    holdings: new Set(),
    held: 0,
    heldUntil: realm.startedAt,
    seasonWars: 0,
    pastSeasons: new Map(),
    glitchUntil: 0,
    salt: Math.floor(random() * 2 ** 32),
  }
  realm.guilds.set(guild.uuid, guild)
  return guild
}

const shares: readonly (readonly [Rank, number])[] = [
  ['chief', 0.1],
  ['strategist', 0.2],
  ['captain', 0.36],
  ['recruiter', 0.62],
  ['recruit', 1],
]

function placeMembers(realm: Realm, guild: Guild, players: readonly Player[]): void {
  const { random } = realm
  players.forEach((player, nth) => {
    const share = nth / players.length
    const rank: Rank = nth === 0 ? 'owner' : (shares.find(([, up]) => share <= up)?.[0] ?? 'recruit')
    const since = Math.max(guild.created, player.firstJoin)
    const joined = nth === 0 ? guild.created : Math.floor(since + (realm.startedAt - day - since) * random())
    enter(player, guild, Math.min(joined, realm.startedAt - day), rank)
  })
}

/** Writes into the history how everybody got where they are when the game begins. */
export function logFirstMembers(realm: Realm): void {
  for (const guild of realm.guilds.values())
    for (const { player, rank, joined } of guild.members.values())
      logMembership(realm, player, guild, joined, { event: 'joined', fromRank: null, toRank: rank })
  realm.log.memberships.sort((one, other) => one.at - other.at)
}

/** Old records that other clients have met: an empty name, a null prefix, twins but for case, a shared username. */
function addQuirks(realm: Realm): void {
  const dormant = [...realm.guilds.values()].slice(playing)
  const [nameless, untagged, twin, other, tagTwin] = dormant
  if (nameless) nameless.name = ''
  if (untagged) untagged.prefix = null
  if (twin && other) twin.name = other.name.toUpperCase()
  const tag = other?.prefix
  if (tagTwin && tag) tagTwin.prefix = tag === tag.toLowerCase() ? tag.toUpperCase() : tag.toLowerCase()
  const shared = realm.people[0]
  const loner = realm.people.findLast((one) => one.membership === null && one.habit === null)
  if (shared && loner && shared !== loner) loner.username = shared.username
}

/** Plans what happens in and to guilds, apart from wars. */
export function planGuildLife(realm: Realm, from: number): void {
  repeating(realm, from, 4.5 * minute, (at) => {
    if (chance(realm.random, liveliness(at))) changeMembers(realm, at)
  })
  recurring(realm, 18 * hour, 20 * hour, (at) => found(realm, at))
  recurring(realm, 40 * hour, 40 * hour, (at) => rename(realm, at))
  recurring(realm, 44 * hour, 40 * hour, (at) => retag(realm, at))
  recurring(realm, 24 * hour, 16 * hour, (at) => disband(realm, at))
  recurring(realm, 5 * hour, 4 * hour, (at) => glitch(realm, at))
}

function changeMembers(realm: Realm, at: number): void {
  const { random } = realm
  const active = [...realm.guilds.values()].filter(({ members }) => members.size > 3)
  const one = weighty(realm, active)
  const other = weighty(realm, active)
  if (!one) return
  const member = pick(random, [...one.members.values()])
  const drawn = random()
  if (drawn < 0.5) shiftRank(realm, member, at)
  else if (drawn < 0.73) {
    if (!leave(realm, member, at)) return
    // Some come back, with everything counted anew.
    if (chance(random, 0.08))
      planTick(realm.events, at + waiting(random, 3 * hour), (then) => {
        if (realm.guilds.has(one.uuid)) join(realm, member.player, one, then)
      })
  } else if (drawn < 0.77) transfer(realm, member, other ?? one, at)
  else {
    const newcomer = drawFree(realm)
    if (newcomer && one.members.size < 150) join(realm, newcomer, one, at)
  }
}

function found(realm: Realm, at: number): void {
  const founder = drawFree(realm)
  if (!founder) return
  const guild = createGuild(realm, false, 0, at)
  join(realm, founder, guild, at, 'owner')
  logEvent(realm, guild, at, 'founded')
}

function rename(realm: Realm, at: number): void {
  const guild = pick(realm.random, oldest(realm))
  const former = guild.name
  guild.name = realm.names.guild()
  touchHoldings(guild)
  logEvent(realm, guild, at, 'renamed', former)
}

function retag(realm: Realm, at: number): void {
  const guild = pick(realm.random, oldest(realm))
  const former = guild.prefix
  guild.prefix = realm.names.prefix(guild.name)
  touchHoldings(guild)
  logEvent(realm, guild, at, 'retagged', former ?? undefined)
}

function disband(realm: Realm, at: number): void {
  const small = [...realm.guilds.values()].filter(
    ({ members, fights, name, prefix }) => members.size < 12 && !fights && name && prefix,
  )
  if (small.length < 5) return
  const guild = pick(realm.random, small)
  const owner = [...guild.members.keys()][0]
  for (const territory of [...guild.holdings]) take(realm, territory, null, at)
  for (const membership of [...guild.members.values()]) remove(realm, membership, at)
  realm.guilds.delete(guild.uuid)
  logEvent(realm, guild, at, 'disbanded')
  if (owner && chance(realm.random, 0.7))
    planTick(realm.events, at + minute + waiting(realm.random, 2 * hour), (then) => refound(realm, guild, owner, then))
}

/** The same name and prefix, another uuid. */
function refound(realm: Realm, former: Guild, owner: Player, at: number): void {
  if (owner.membership) return
  const guild = createGuild(realm, false, 0, at)
  guild.name = former.name
  guild.prefix = former.prefix
  join(realm, owner, guild, at, 'owner')
  logEvent(realm, guild, at, 'refounded', former.uuid)
}

/** For some minutes every member's guild raids are shown as 0, as other clients have met it. */
function glitch(realm: Realm, at: number): void {
  const guild = weighty(realm, oldest(realm))
  if (!guild || guild.glitchUntil > at) return
  guild.glitchUntil = Math.round(at + minute + waiting(realm.random, 5 * minute))
  realm.log.glitches.push({ guild: guild.uuid, from: at, until: guild.glitchUntil })
}

type GuildEventName = Realm['log']['guilds'][number]['event']

function logEvent(realm: Realm, guild: Guild, at: number, event: GuildEventName, former?: string): void {
  const { uuid, name, prefix } = guild
  realm.log.guilds.push({ guild: uuid, at, event, name, prefix, ...(former === undefined ? {} : { former }) })
}

/** The first 60 guilds, most of which play. */
function oldest(realm: Realm): Guild[] {
  return [...realm.guilds.values()].slice(0, 60)
}

/** The larger of two drawn guilds. */
function weighty(realm: Realm, guilds: readonly Guild[]): Guild | undefined {
  if (guilds.length === 0) return undefined
  const one = pick(realm.random, guilds)
  const other = pick(realm.random, guilds)
  return one.members.size >= other.members.size ? one : other
}

/** A player without a guild, from a few tries. */
function drawFree(realm: Realm): Player | undefined {
  const people = [...realm.online]
  if (people.length === 0) return undefined
  for (let attempt = 0; attempt < 12; attempt++) {
    const player = pick(realm.random, people)
    if (!player.membership) return player
  }
  return undefined
}
