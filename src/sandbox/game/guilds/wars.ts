import { between, chance, pick } from '../../generator/draw.ts'
import { accrue } from '../boards/seasons.ts'
import type { Guild, Realm, Territory } from '../state.ts'
import { hour, liveliness, minute, planTick, repeating, second, waiting } from '../time.ts'
import { touch, touchHoldings } from './territories.ts'

/** Plans campaigns, and now and then a territory that loses its owner. */
export function planWars(realm: Realm, from: number): void {
  const { random } = realm
  repeating(realm, from, 7 * minute, (at) => {
    if (chance(random, liveliness(at, 20))) fight(realm, at)
  })
  repeating(realm, from + waiting(random, 5 * hour), 9 * hour, (at) => {
    const held = [...realm.territories].filter((one) => one.owner)
    if (held.length > 0) take(realm, pick(random, held), null, at)
  })
}

/**
 * A territory changes hands at a game tick, is taken again by its owner, or (`by` null) loses its owner.
 * Within one tick a territory is taken once at most.
 */
export function take(realm: Realm, territory: Territory, by: Guild | null, at: number): void {
  const { random, log, events } = realm
  const { owner } = territory
  if (!realm.territories.has(territory) || territory.changedAt === at || (by === null && owner === null)) return
  for (const guild of new Set([owner, by])) if (guild) accrue(guild, at)
  log.captures.push({ territory: territory.name, at, from: owner?.uuid ?? null, to: by?.uuid ?? null })
  endHold(territory, at)
  territory.owner = by
  territory.acquired = by ? at : null
  territory.changedAt = at
  territory.defences = by ? between(random, 0, 1) : 0
  if (by) beginHold(realm, territory, by, at)
  touch(territory)
  if (owner && owner !== by && owner.seat === territory.name)
    // For a moment the guild's headquarters are a place it has just lost.
    planTick(events, at + 20 * second + waiting(random, 2 * minute), (then) => moveSeat(realm, owner, then))
  if (!by) {
    planTick(events, at + 10 * minute + waiting(random, hour), (then) => {
      const claimant = drawFighter(realm)
      if (claimant && !territory.owner) win(realm, territory, claimant, then)
    })
    return
  }
  if (by.seat === null)
    planTick(events, at + waiting(random, 4 * minute), (then) => {
      if (by.seat === null) moveSeat(realm, by, then)
    })
  const held = territory.hold
  planTick(events, at + 5 * minute + waiting(random, 30 * minute), () => {
    if (territory.hold !== held) return
    territory.defences = between(random, 1, 4)
    touch(territory)
  })
}

export function endHold(territory: Territory, at: number): void {
  if (territory.hold) territory.hold.until = at
  territory.hold = null
  territory.owner?.holdings.delete(territory)
}

/** Begins a hold under the territory's present name. */
export function beginHold(realm: Realm, territory: Territory, guild: Guild, at: number): void {
  territory.hold = { territory: territory.name, guild: guild.uuid, from: at, until: null }
  realm.log.holds.push(territory.hold)
  guild.holdings.add(territory)
}

/** Moves a guild's headquarters to one of its territories, or gives them up when it has none. */
export function moveSeat(realm: Realm, guild: Guild, at: number): void {
  if (!realm.guilds.has(guild.uuid)) return
  const choice = [...guild.holdings].filter(({ name }) => name !== guild.seat)
  const kept = [...guild.holdings].some(({ name }) => name === guild.seat)
  if (choice.length === 0 && kept) return
  setSeat(realm, guild, choice.length > 0 ? pick(realm.random, choice).name : null, at)
}

export function setSeat(realm: Realm, guild: Guild, seat: string | null, at: number): void {
  guild.seat = seat
  touchHoldings(guild)
  realm.log.seats.push({ guild: guild.uuid, at, territory: seat })
}

/** About half of all captures are a guild's own territories, taken again. */
function fight(realm: Realm, at: number): void {
  const { random } = realm
  const attacker = drawFighter(realm)
  if (!attacker) return
  const rivals = [...realm.guilds.values()].filter((one) => one !== attacker && one.holdings.size > 0)
  const renews = chance(random, 0.56) || attacker.holdings.size > 90 || rivals.length === 0
  // The larger the rival, the likelier the attack, or one guild would end up with everything.
  const defender = renews ? attacker : largest([pick(random, rivals), pick(random, rivals), pick(random, rivals)])
  let then = at
  for (let count = between(random, 3, 18); count > 0; count--) {
    then += (25 + 140 * random()) * second
    planTick(realm.events, then, (now) => {
      if (!realm.guilds.has(attacker.uuid) || defender.holdings.size === 0) return
      const target = pick(random, [...defender.holdings])
      win(realm, target, attacker, now)
      if (!renews && chance(random, 0.3))
        planTick(realm.events, now + minute + waiting(random, 12 * minute), (later) => {
          if (realm.guilds.has(defender.uuid)) win(realm, target, defender, later)
        })
    })
  }
}

/** A guild takes a territory, and it counts as one of its wars, and as one of each member who is online, up to five. */
export function win(realm: Realm, territory: Territory, by: Guild, at: number): void {
  const captures = realm.log.captures.length
  take(realm, territory, by, at)
  if (realm.log.captures.length === captures) return
  by.wars = (by.wars ?? 0) + 1
  if (realm.runningSeason) by.seasonWars += 1
  let fighters = 5
  for (const player of by.members.keys()) if (player.session && fighters-- > 0) player.warsPending += 1
}

function drawFighter(realm: Realm): Guild | undefined {
  const fighters = [...realm.guilds.values()].filter((guild) => guild.fights)
  return fighters.length === 0 ? undefined : pick(realm.random, fighters)
}

function largest(guilds: readonly Guild[]): Guild {
  return guilds.reduce((best, one) => (one.holdings.size > best.holdings.size ? one : best))
}
