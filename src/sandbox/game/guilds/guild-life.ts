import { chance, pick } from '../../generator/draw.ts'
import type { Guild, Player, Realm } from '../state.ts'
import { hour, liveliness, minute, planTick, recurring, repeating, waiting } from '../time.ts'
import { createGuild } from './guilds.ts'
import { join, leave, remove, shiftRank, transfer } from './membership.ts'
import { touchHoldings } from './territories.ts'
import { take } from './wars.ts'

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
  const [one, other] = [weighty(realm, active), weighty(realm, active)]
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
  const [one, other] = [pick(realm.random, guilds), pick(realm.random, guilds)]
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
