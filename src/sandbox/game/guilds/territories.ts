import { between, chance, pick } from '../../generator/draw.ts'
import type { Guild, Realm, Sheet, Territory } from '../state.ts'
import { day, hour, lastTick } from '../time.ts'

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
export function createTerritory(realm: Realm, sheet: Sheet, column: number, row: number): Territory {
  const { random } = realm
  const left = -2200 + column * 180 + between(random, 0, 20)
  const top = -5900 + row * 285 + between(random, 0, 30)
  const right = left + between(random, 90, 155)
  const bottom = top + between(random, 120, 250)
  const [flipX, flipZ] = [chance(random, 0.5), chance(random, 0.5)]
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

export function link(one: Territory, other: Territory): void {
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
export function touch(territory: Territory): void {
  territory.sheet.edition += 1
}

/** Makes the next response show everything a guild holds anew. */
export function touchHoldings(guild: Guild): void {
  for (const territory of guild.holdings) touch(territory)
}
