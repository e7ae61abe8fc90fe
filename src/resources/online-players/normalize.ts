import { isStorable, isUuid, longestKey, uuidText } from '../../api/schemas/form/limits.ts'
import type { OnlineList } from '../../api/schemas/people/players.ts'
import type { RedactedCounts } from '../../api/schemas/people/redacted.ts'
import type { Extraction, Normalized } from '../../sync/declare/resource.ts'
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
  /** Where those are who are listed without a uuid that can be read, or were removed from an archived response later. */
  readonly unnamed?: readonly (string | null)[]
  /** How many keys of the list are no uuid, and players under several; absent: none. */
  readonly unread?: number
  /** The count of the list is hard to believe: it may lack many. Absent: it is not. */
  readonly isDoubted?: boolean
  /** How many players have something else instead of a name of a world; absent: none. */
  readonly misplaced?: number
}

/** From which share of the list on players whose uuid cannot be read make it useless. */
const unreadShare = 0.1
/** The total and the list are counted at almost the same time: a total below this share of the list is wrong. */
const leastTotal = 0.9
/** So many players may hide, as a share of those who are listed, or as a number where few are. More are a claim. */
const hiddenShare = 0.5
const fewHidden = 10
/** A total of more than so many times the list, or as much as of so many listed players, is no number of players. */
const mostTotal = 100

/** Splits the list: worlds as records, players as facts. What is no uuid, no world or no total is a record for quarantine. */
export function recordsOf(
  { total, players, misshapen }: OnlineList,
  redacted?: Pick<RedactedCounts, 'worlds'>,
): Pick<Extraction, 'records' | 'complete' | 'lacks' | 'agrees' | 'doubt' | 'validationError'> & {
  readonly facts: OnlineFacts
} {
  const { worldOf, unread, misfits, doubled } = readPlayers(players)
  const removed = Object.entries(redacted?.worlds ?? {}).flatMap(([world, count]) =>
    Array.from({ length: count }, () => world || null),
  )
  const unnamed = [...unread, ...removed]
  const online = new Map<string, number>()
  for (const world of [...worldOf.values(), ...unnamed])
    if (world !== null) online.set(world, (online.get(world) ?? 0) + 1)
  const records: object[] = [...misfits, ...[...online].map(([world, count]) => ({ world, online: count }))]
  const listed = worldOf.size + unnamed.length
  const isInteger = total !== null && Number.isInteger(total) && Math.abs(total) < 2 ** 31
  const isCredible =
    isInteger && total >= 0 && total >= leastTotal * listed && total <= mostTotal * Math.max(listed, mostTotal)
  if (isInteger && !isCredible) records.push({ total })
  const sorted = [...worldOf].sort(([a], [b]) => (a < b ? -1 : 1))
  const nowhere = [...worldOf.values(), ...unnamed].filter((world) => world === null).length
  const isUseless = unread.length > Math.max(1, unreadShare * listed)
  const facts: OnlineFacts = {
    total: isCredible ? total : null,
    players: sorted.map(([uuid]) => uuid),
    // The world itself goes to quarantine: where its players are is not known.
    worlds: sorted.map(([, world]) => (world !== null && isWorldName(world) ? world : null)),
    ...(unnamed.length > 0 ? { unnamed } : {}),
    ...(unread.length + doubled > 0 ? { unread: unread.length + doubled } : {}),
    ...(misfits.length > unread.length ? { misplaced: misfits.length - unread.length } : {}),
  }
  const gap = isCredible ? total - listed : 0
  const isDoubted = gap > Math.max(fewHidden, hiddenShare * listed)
  const reason = `the API counts ${total} players and lists ${listed}`
  return {
    records,
    agrees: isCredible && !isDoubted,
    ...(isDoubted ? { doubt: { reason, gap, facts: { ...facts, total: null, isDoubted } } } : {}),
    // A world that is not named may have the players without a world: nothing shows that it is down.
    complete: nowhere === 0,
    ...(nowhere > 0 ? { lacks: `${nowhere} of ${listed} listed players have no world` } : {}),
    // Without a list nothing shows that its players are gone, whatever the total says.
    ...(misshapen === undefined ? {} : { validationError: `its players are no map of players, but ${misshapen}` }),
    ...(isUseless ? { validationError: `${unread.length} of ${listed} listed players have no uuid` } : {}),
    facts,
  }
}

/** Who is where, by uuid; the worlds of those without one; and what cannot be read. */
function readPlayers(players: OnlineList['players']) {
  const worldOf = new Map<string, string | null>()
  const unread: (string | null)[] = []
  const misfits: object[] = []
  const twice = new Set<string>()
  for (const { key, world, misfit } of players) {
    const uuid = isUuid(key) ? uuidText(key) : undefined
    if (uuid === undefined) unread.push(world !== null && isWorldName(world) ? world : null)
    else if (!worldOf.has(uuid)) worldOf.set(uuid, world)
    else {
      twice.add(uuid)
      // Of one player on two worlds it is unknown which is right.
      if (worldOf.get(uuid) !== world) worldOf.set(uuid, null)
    }
    if (uuid === undefined) misfits.push({ player: key, on: misfit ?? world })
    else if (misfit !== undefined) misfits.push({ player: key, on: misfit })
  }
  return { worldOf, unread, misfits, doubled: twice.size }
}

function isWorldName(world: string): boolean {
  return isStorable(world) && world.length <= longestKey
}

/** The key of a world, or one for the quarantine, so that what is no world does not count as one. */
export function keyOf(record: unknown): string | undefined {
  const { world, player } = record as ListRecord
  return world ?? (player === undefined ? '/total' : `/players/${player}`)
}

interface ListRecord {
  readonly world?: string
  readonly online?: number
  readonly player?: string
  readonly on?: unknown
  readonly total?: number
}

/** @throws RecordError for a player without a uuid (a name is no key) or without a world that is one, and for a wrong total */
export function normalizeWorld(record: unknown): Normalized<typeof worldHistory> {
  const { world, online, player, on, total } = record as ListRecord
  if (world !== undefined)
    return { key: world, document: {}, root: { world }, parts: {}, samples: { worlds: [{ world, online }] } }
  if (player === undefined) throw recordError('/total', `the total ${total} is far from the number of listed players`)
  if (!isUuid(player)) throw recordError('', `${JSON.stringify(player)} is no uuid of a player`)
  throw recordError('', `${JSON.stringify(on)} is no name of a world`)
}
