import type { Lane } from '../http/request.ts'

/** One request that waits for its lane to open. */
export interface QueueEntry {
  readonly lane: Lane
  /** The highest goes first; equal ones in the order of `order`. */
  readonly priority: number
  readonly order: number
}

interface Waiting {
  readonly place: QueueEntry
  readonly enter: (entry: Entry) => void
}

/** How a request leaves the room: to ask for budget, or because the room was cleared. */
export type Entry = 'ask' | 'look' | 'cleared'

/** The requests of one bucket that wait for budget: they hold no slot meanwhile. */
export interface PendingQueue {
  /** Resolves when it is this one's turn; rejects with the signal's reason. */
  wait(place: QueueEntry, signal: AbortSignal): Promise<Entry>
  size(lane: Lane): number
  /** Lets the first one of the lane go; false when nobody waits there. */
  admit(lane: Lane, entry: Entry): boolean
  /** Lets everybody go, in order. */
  clear(): void
}

/** @param onLeave told when somebody gives up waiting */
export function createPendingQueue(onLeave: () => void): PendingQueue {
  const rows: Record<Lane, Waiting[]> = { live: [], refresh: [], backfill: [] }

  function insert(waiting: Waiting): void {
    const row = rows[waiting.place.lane]
    // Most come in order, so the place is near the end.
    let at = row.length
    while (at > 0 && goesBefore(waiting.place, row[at - 1]?.place)) at--
    row.splice(at, 0, waiting)
  }

  function wait(place: QueueEntry, signal: AbortSignal): Promise<Entry> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const giveUp = () => {
        const row = rows[place.lane]
        row.splice(row.indexOf(waiting), 1)
        reject(signal.reason)
        onLeave()
      }
      const waiting: Waiting = {
        place,
        enter: (entry) => {
          signal.removeEventListener('abort', giveUp)
          resolve(entry)
        },
      }
      signal.addEventListener('abort', giveUp, { once: true })
      insert(waiting)
    })
  }

  function admit(lane: Lane, entry: Entry): boolean {
    const first = rows[lane].shift()
    first?.enter(entry)
    return first !== undefined
  }

  return {
    wait,
    size: (lane) => rows[lane].length,
    admit,
    clear() {
      const all = Object.values(rows).flatMap((row) => row.splice(0))
      for (const one of all.sort((a, b) => (goesBefore(a.place, b.place) ? -1 : 1))) one.enter('cleared')
    },
  }
}

function goesBefore(one: QueueEntry, other: QueueEntry | undefined): boolean {
  if (other === undefined) return true
  return one.priority === other.priority ? one.order < other.order : one.priority > other.priority
}
