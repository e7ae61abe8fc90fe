import type { Dialect } from '../../http/answer.ts'
import { stores, treasury, treasuryGrowsAt } from '../guilds/economy.ts'
import { type Part, partOf } from '../parts.ts'
import { levels, type Realm, type Sheet, type Territory } from '../state.ts'
import { stamp } from '../time.ts'

interface Written {
  readonly edition: number
  /** Instant (ms) at which the treasury or the resources differ. */
  readonly staleAt: number
  readonly part: Part
}

/**
 * Writes `/guild/list/territory` sheet by sheet (API reference 6.3); only sheets that changed are written anew.
 * @param resourceSeconds how often the resources of a territory move
 * @returns a function that gives the parts of the body as of an instant (ms)
 */
export function territoryWriter(realm: Realm, dialect: Dialect, resourceSeconds: number) {
  const sheets = new Map<Sheet, Written>()
  const end = partOf('}')

  return (at: number): Part[] => [...realm.sheets.map((sheet) => written(sheet, at).part), end]

  function written(sheet: Sheet, at: number): Written {
    const known = sheets.get(sheet)
    if (known && known.edition === sheet.edition && at < known.staleAt) return known
    const length = resourceSeconds * 1000
    // The sheets move one after the other, so that a response seldom differs in all of them.
    const phase = Math.floor((sheet.nth / realm.sheets.length) * length)
    const tick = Math.floor((at - phase) / length)
    const entries = sheet.territories.map((one) => `${JSON.stringify(one.name)}:${JSON.stringify(body(one, at, tick))}`)
    const lead = sheet.nth === 0 ? '{' : ','
    const fresh = {
      edition: sheet.edition,
      staleAt: Math.min(
        (tick + 1) * length + phase,
        ...sheet.territories.map((territory) => treasuryGrowsAt(territory, at)),
      ),
      part: partOf(entries.length === 0 ? '' : lead + entries.join(',')),
    }
    sheets.set(sheet, fresh)
    return fresh
  }

  function body(territory: Territory, at: number, tick: number) {
    const { owner, acquired, start, end: corner, links, defences, salt } = territory
    const isSeat = owner !== null && owner.seat === territory.name
    return {
      guild: owner
        ? { uuid: owner.uuid, name: owner.name, prefix: owner.prefix, hq: owner.seat }
        : { uuid: null, name: null, prefix: null },
      acquired: acquired === null ? null : stamp(acquired),
      location: { start, end: corner },
      // Some unowned places lack it (API reference 6.3).
      ...(owner === null && salt % 2 === 0 ? {} : { hq: isSeat }),
      resources: stores(territory, tick).map(({ baseGeneration, ...store }) => ({
        type: store.type,
        generation: store.generation,
        ...(dialect === 'live' ? { baseGeneration } : {}),
        stored: store.stored,
        limit: store.limit,
      })),
      links,
      treasury: levels[treasury(territory, at)],
      defences: levels[defences],
    }
  }
}
