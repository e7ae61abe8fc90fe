import { between, chance, pick } from '../../generator/draw.ts'
import { accrue } from '../boards/seasons.ts'
import type { Guild, Realm, Sheet, Territory } from '../state.ts'
import { day, hour, lastTick, liveliness, minute, planTick, recurring, repeating, second, waiting } from '../time.ts'

/** The territories of a game for which no other number is given. */
const wholeMap = 400
const perSheet = 20
/** How many territories the fighting guilds hold at first; the rest has no owner. */
const firstHoldings = [58, 55, 50, 41, 33, 29, 27, 25, 19, 16, 13, 9, 7, 4, 3, 3, 2, 2]

/** As many sheets as a first map of so many territories needs, each of them full. */
export function createSheets(territories = wholeMap): Sheet[] {
  return Array.from({ length: Math.ceil(territories / perSheet) }, (_, nth) => ({ territories: [], edition: 0, nth }))
}

/** Draws the map: territories on a grid, linked to their neighbours; a few links lead to names that do not exist. */
export function createMap(realm: Realm): void {
  const { random } = realm
  const grid: Territory[] = []
  // About as wide as high, as the map of the game is.
  const columns = realm.sheets.length > 5 ? 20 : 10
  for (let place = 0; place < realm.sheets.length * perSheet; place++) {
    const sheet = realm.sheets[Math.floor(place / perSheet)]
    if (sheet) grid.push(createTerritory(realm, sheet, place % columns, Math.floor(place / columns)))
  }
  grid.forEach((territory, place) => {
    const right = (place + 1) % columns === 0 ? undefined : grid[place + 1]
    const below = grid[place + columns]
    for (const other of [right, below])
      if (other && (chance(random, 0.8) || (other === below && territory.links.length === 0))) link(territory, other)
  })
  for (let nth = 0; nth < 3; nth++) pick(random, grid).links.push(realm.names.territory())
}

/** Adds one territory to a sheet and to the realm, without an owner and without links. */
function createTerritory(realm: Realm, sheet: Sheet, column: number, row: number): Territory {
  const { random } = realm
  const left = -2200 + column * 180 + between(random, 0, 20)
  const top = -5900 + row * 285 + between(random, 0, 30)
  const right = left + between(random, 90, 155)
  const bottom = top + between(random, 120, 250)
  const flipX = chance(random, 0.5)
  const flipZ = chance(random, 0.5)
  const scale = pick(random, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.2, 2])
  const first = between(random, 1, 4)
  const second = chance(random, 0.3) ? between(random, 1, 4) : first
  const territory: Territory = {
    name: realm.names.territory(),
    start: [flipX ? right : left, flipZ ? bottom : top],
    end: [flipX ? left : right, flipZ ? top : bottom],
    links: [],
    baseGeneration: [9000 * scale, 3600, 3600, 3600, 3600],
    produces: [true, 1, 2, 3, 4].map((place) => place === true || place === first || place === second),
    owner: null,
    acquired: null,
    changedAt: 0,
    defences: 0,
    hold: null,
    sheet,
    salt: Math.floor(random() * 2 ** 32),
  }
  sheet.territories.push(territory)
  realm.territories.add(territory)
  return territory
}

function link(one: Territory, other: Territory): void {
  one.links.push(other.name)
  other.links.push(one.name)
}

/** Gives the map its first owners, a few hours to many days ago. @param amounts how many each fighting guild holds */
export function createHoldings(realm: Realm, before: number, amounts: readonly number[] = firstHoldings): void {
  const { random } = realm
  const owners = [...realm.guilds.values()].filter((guild) => guild.fights)
  const places = [...realm.territories].values()
  owners.forEach((guild, nth) => {
    for (let count = amounts[nth] ?? 1; count > 0; count--) {
      const territory = places.next().value
      if (!territory) return
      const acquired = lastTick(before - 20 * day * random() ** 3 - 0.05 * hour)
      territory.owner = guild
      territory.acquired = acquired
      territory.defences = between(random, 0, 4)
      territory.hold = { territory: territory.name, guild: guild.uuid, from: acquired, until: null }
      realm.log.holds.push(territory.hold)
      guild.holdings.add(territory)
    }
    guild.seat = guild.holdings.size > 0 ? pick(random, [...guild.holdings]).name : null
    guild.heldUntil = before
  })
  realm.log.holds.sort((one, other) => one.from - other.from)
}

/** Makes the next response show a territory anew. */
function touch(territory: Territory): void {
  territory.sheet.edition += 1
}

/** Makes the next response show everything a guild holds anew. */
export function touchHoldings(guild: Guild): void {
  for (const territory of guild.holdings) touch(territory)
}

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

function endHold(territory: Territory, at: number): void {
  if (territory.hold) territory.hold.until = at
  territory.hold = null
  territory.owner?.holdings.delete(territory)
}

/** Begins a hold under the territory's present name. */
function beginHold(realm: Realm, territory: Territory, guild: Guild, at: number): void {
  territory.hold = { territory: territory.name, guild: guild.uuid, from: at, until: null }
  realm.log.holds.push(territory.hold)
  guild.holdings.add(territory)
}

/** Moves a guild's headquarters to one of its territories, or gives them up when it has none. */
function moveSeat(realm: Realm, guild: Guild, at: number): void {
  if (!realm.guilds.has(guild.uuid)) return
  const choice = [...guild.holdings].filter(({ name }) => name !== guild.seat)
  const kept = [...guild.holdings].some(({ name }) => name === guild.seat)
  if (choice.length === 0 && kept) return
  setSeat(realm, guild, choice.length > 0 ? pick(realm.random, choice).name : null, at)
}

function setSeat(realm: Realm, guild: Guild, seat: string | null, at: number): void {
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

/** Plans what rarely happens to the map: names change, places come and go, headquarters move. */
export function planMapChanges(realm: Realm): void {
  recurring(realm, 40 * hour, 3 * day, (at) => rename(realm, at))
  recurring(realm, 50 * hour, 4 * day, (at) => retire(realm, at))
  recurring(realm, 45 * hour, 4 * day, (at) => open(realm, at))
  recurring(realm, 3 * hour, 3 * hour, (at) => {
    const seated = [...realm.guilds.values()].filter(({ holdings }) => holdings.size > 1)
    if (seated.length > 0) moveSeat(realm, pick(realm.random, seated), at)
  })
}

/** Links of other places keep leading to the former name. */
function rename(realm: Realm, at: number): void {
  const territory = pick(realm.random, [...realm.territories])
  const { owner, acquired, name: formerName } = territory
  endHold(territory, at)
  territory.name = realm.names.territory()
  if (owner && acquired !== null) {
    beginHold(realm, territory, owner, acquired)
    if (owner.seat === formerName) setSeat(realm, owner, territory.name, at)
  }
  touch(territory)
  realm.log.map.push({ territory: territory.name, at, event: 'renamed', formerName })
}

function retire(realm: Realm, at: number): void {
  // The first sheet never gets empty, because the others are written after it.
  const candidates = [...realm.territories].filter(({ sheet }) => sheet.nth > 0)
  if (candidates.length < 50) return
  const territory = pick(realm.random, candidates)
  const { owner, sheet, name } = territory
  if (owner) accrue(owner, at)
  endHold(territory, at)
  realm.territories.delete(territory)
  sheet.territories.splice(sheet.territories.indexOf(territory), 1)
  sheet.edition += 1
  realm.log.map.push({ territory: name, at, event: 'retired' })
  if (owner?.seat === name) moveSeat(realm, owner, at)
}

function open(realm: Realm, at: number): void {
  const { random, sheets, territories, log } = realm
  const neighbour = pick(random, [...territories])
  const territory = createTerritory(realm, pick(random, sheets), Math.floor(random() * 20), 20)
  link(territory, neighbour)
  touch(neighbour)
  touch(territory)
  log.map.push({ territory: territory.name, at, event: 'new' })
}
