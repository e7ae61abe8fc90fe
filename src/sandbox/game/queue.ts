/** What happens at an instant (ms since the epoch). */
export type Happening = (at: number) => void

/** Happenings in the order of their instants; of one instant, in the order in which they were planned. */
export interface EventQueue {
  /** Plans a happening; one that would lie in the past happens at once. */
  plan(at: number, happening: Happening): void
  /** Lets everything up to and including `until` (ms since the epoch) happen. */
  playUntil(until: number): void
}

interface Planned {
  readonly at: number
  readonly order: number
  readonly happening: Happening
}

/** An empty queue (a binary heap) whose time is `start`, ms since the epoch. */
export function createQueue(start: number): EventQueue {
  const heap: Planned[] = []
  let now = start
  let planned = 0

  function plan(at: number, happening: Happening): void {
    const one = { at: Math.max(now, Math.round(at)), order: planned++, happening }
    let place = heap.length
    while (place > 0) {
      const above = (place - 1) >> 1
      const other = heap[above]
      if (!other || before(other, one)) break
      heap[place] = other
      place = above
    }
    heap[place] = one
  }

  function takeFirst(): void {
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let place = 0
    for (;;) {
      let below = 2 * place + 1
      const left = heap[below]
      const right = heap[below + 1]
      if (left && right && before(right, left)) below++
      const next = heap[below]
      if (!next || before(last, next)) break
      heap[place] = next
      place = below
    }
    heap[place] = last
  }

  return {
    plan,
    playUntil: (until) => {
      for (let first = heap[0]; first && first.at <= until; first = heap[0]) {
        takeFirst()
        now = first.at
        first.happening(first.at)
      }
      now = Math.max(now, until)
    },
  }
}

function before(one: Planned, other: Planned): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}
