import { isStorable, isUuid, longestKey } from '../../api/schemas/form/limits.ts'
import type { OnlineList } from '../../api/schemas/people/players.ts'
import type { RedactedCounts } from '../../api/schemas/people/redacted.ts'
import type { Extraction, Normalized } from '../../sync/resource.ts'
import { recordError } from '../record.ts'
import type { worldHistory } from './tables.ts'

/** What `derive` must know of an answer. */
export type OnlineFacts = {
  /** Who is online as the service counts; null when it did not say. */
  readonly total: number | null
  /** Uuids of everybody listed, sorted. */
  readonly players: readonly string[]
  /** Where each of them is, in the same order; null when the answer does not say. */
  readonly worlds: readonly (string | null)[]
  /** Where those are who were removed from an archived response later; absent when there are none. */
  readonly unnamed?: readonly (string | null)[]
}

/** Splits the list: worlds as records, players as facts. A player without a uuid is a record that cannot be read. */
export function recordsOf(
  { total, players }: OnlineList,
  redacted?: Pick<RedactedCounts, 'worlds'>,
): Pick<Extraction, 'records' | 'complete'> & { readonly facts: OnlineFacts } {
  const worldOf = new Map<string, string | null>()
  const records: object[] = []
  for (const { key, world } of players) {
    const uuid = key.toLowerCase()
    if (isUuid(uuid)) worldOf.set(uuid, world)
    else records.push({ player: key, on: world })
  }
  const online = new Map<string, number>()
  const unnamed = Object.entries(redacted?.worlds ?? {}).flatMap(([world, count]) =>
    Array.from({ length: count }, () => world || null),
  )
  for (const world of [...worldOf.values(), ...unnamed])
    if (world !== null) online.set(world, (online.get(world) ?? 0) + 1)
  for (const [world, count] of online) records.push({ world, online: count })
  const sorted = [...worldOf].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    records,
    // A world that is not named may have the players without a world: nothing shows that it is down.
    complete: sorted.every(([, world]) => world !== null) && !unnamed.includes(null),
    facts: {
      total: total !== null && Number.isInteger(total) && Math.abs(total) < 2 ** 31 ? total : null,
      players: sorted.map(([uuid]) => uuid),
      // The world itself goes to quarantine: where its players are is not known.
      worlds: sorted.map(([, world]) => (world !== null && isWorldName(world) ? world : null)),
      ...(unnamed.length > 0 ? { unnamed } : {}),
    },
  }
}

function isWorldName(world: string): boolean {
  return isStorable(world) && world.length <= longestKey
}

/** @throws RecordError for a player without a uuid: a name is no key */
export function normalizeWorld(record: unknown): Normalized<typeof worldHistory> {
  const { world, online, player } = record as { world?: string; online?: number; player?: string }
  if (world === undefined) throw recordError('', `${JSON.stringify(player)} is no uuid of a player`)
  return { key: world, document: {}, root: { world }, parts: {}, samples: { worlds: [{ world, online }] } }
}
