import { pick } from '../../generator/draw.ts'
import { accrue } from '../boards/seasons.ts'
import type { Realm } from '../state.ts'
import { day, hour, recurring } from '../time.ts'
import { createTerritory, link, touch } from './territories.ts'
import { beginHold, endHold, moveSeat, setSeat } from './wars.ts'

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
