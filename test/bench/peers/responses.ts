import { isDeepStrictEqual } from 'node:util'
import { createItemWorld, patchItems, startSandbox } from '../../../src/sandbox/index.ts'

/** What is loaded: all items, the map of territories, or rows without anything nested. */
export type Work = 'items' | 'territories' | 'flat'

/** Rows of `flat`. */
export const FLAT_ROWS = 100_000

/** Items and territories that the changed response changes. */
const [PATCHED, CAPTURED] = [150, 5]

const routes: Readonly<Record<Work, string>> = {
  items: '/item/database',
  territories: '/guild/list/territory',
  flat: '/flat',
}

/** Generated responses on a local server, the same for every tool. */
export interface Responses {
  /** Base URL, as the command of wynnsync takes it. */
  readonly baseUrl: string
  urlOf(work: Work): string
  /** Serves the first responses again. */
  reset(): void
  /** Serves the next state: first other values, then the first ones again. */
  change(): void
  /** Keys of which the two states differ, by comparing them directly. */
  readonly changed: Readonly<Record<'items' | 'territories', readonly string[]>>
  close(): Promise<void>
}

export async function serveResponses(seed: number): Promise<Responses> {
  const limits = { guest: 1_000_000, token: 1_000_000 }
  const sandbox = await startSandbox({ seed, limits })
  const map = (await (await fetch(`${sandbox.url}${routes.territories}`)).json()) as Record<string, TerritoryRecord>
  const world = createItemWorld(seed)
  // A new item ends no version, and one that is missing is confirmed only by a second response: neither is compared here.
  const patched = new Map(patchItems(world, seed + 1, PATCHED).items.map((item) => [item.internalName, item]))
  const otherItems = world.items.map((item) => patched.get(item.internalName) ?? item)
  const otherMap = captured(map)
  const flat = flatRows()
  let isChanged = false
  const serve = (items: unknown, territories: unknown) => {
    const bodies = { items: JSON.stringify(items), territories: JSON.stringify(territories), flat }
    for (const [work, body] of Object.entries(bodies))
      sandbox.setAnswer(routes[work as Work], () => ({
        body,
        headers: { 'content-type': work === 'flat' ? 'text/csv' : 'application/json' },
      }))
  }
  const reset = () => {
    serve(world.items, map)
    isChanged = false
  }
  reset()
  return {
    baseUrl: sandbox.url,
    urlOf: (work) => `${sandbox.url}${routes[work]}${work === 'items' ? '?fullResult' : ''}`,
    reset,
    change: () => {
      isChanged = !isChanged
      // A capture is always later than the one before it.
      const holders = isChanged ? otherMap : map
      serve(isChanged ? otherItems : world.items, capturedNow(holders, Object.keys(map).slice(0, CAPTURED)))
    },
    changed: {
      items: world.items.flatMap((item, nth) => (isDeepStrictEqual(item, otherItems[nth]) ? [] : [item.internalName])),
      territories: Object.keys(map).filter((name) => !isDeepStrictEqual(map[name], otherMap[name])),
    },
    close: () => sandbox.close(),
  }
}

interface TerritoryRecord {
  readonly guild: { readonly uuid: string | null }
  readonly acquired: string | null
}

/** The first territories with the owner of the first one that has another. */
function captured(map: Readonly<Record<string, TerritoryRecord>>): Record<string, TerritoryRecord> {
  const records = Object.values(map)
  return Object.fromEntries(
    Object.entries(map).map(([name, record], nth) => {
      const other = records.find(({ guild }) => guild.uuid !== null && guild.uuid !== record.guild.uuid)
      return [name, nth < CAPTURED && other ? { ...record, guild: other.guild } : record]
    }),
  )
}

function capturedNow(map: Readonly<Record<string, TerritoryRecord>>, names: readonly string[]) {
  const acquired = new Date(Date.now() - 500).toISOString()
  return Object.fromEntries(
    Object.entries(map).map(([name, record]) => [name, names.includes(name) ? { ...record, acquired } : record]),
  )
}

function flatRows(): string {
  const start = Date.parse('2026-01-01T00:00:00Z')
  const rows = Array.from(
    { length: FLAT_ROWS },
    (_, nth) => `${nth},name ${nth % 997},${new Date(start + nth * 1000).toISOString()},${nth * 7}`,
  )
  return ['key,name,at,value', ...rows, ''].join('\n')
}
