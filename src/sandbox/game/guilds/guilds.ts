import { between, chance, pick } from '../../generator/draw.ts'
import { createPlayer } from '../people/players.ts'
import type { Guild, Player, Realm } from '../state.ts'
import { day } from '../time.ts'
import { enter, logMembership } from './membership.ts'
import type { Rank } from './ranks.ts'

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
export function createGuild(realm: Realm, fights: boolean, size: number, at?: number): Guild {
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
