/** What happens at an instant (ms since the epoch). */
export type Happening = (at: number) => void

interface Planned {
  readonly at: number
  readonly happening: Happening
}

/**
 * Happenings in the order of their instants; of one instant, in the order in which they were planned.
 * @param start the queue's time, ms since the epoch
 */
export function createQueue(start: number) {
  // The next one is the last, so that taking it moves nothing.
  const planned: Planned[] = []
  let now = start

  return {
    /** Plans a happening; one that would lie in the past happens at once. */
    plan: (wanted: number, happening: Happening): void => {
      const at = Math.max(now, Math.round(wanted))
      let low = 0
      let high = planned.length
      while (low < high) {
        const middle = (low + high) >> 1
        if ((planned[middle]?.at ?? at) > at) low = middle + 1
        else high = middle
      }
      planned.splice(low, 0, { at, happening })
    },
    /** Lets everything up to and including `until` (ms since the epoch) happen. */
    playUntil: (until: number): void => {
      for (let next = planned.at(-1); next && next.at <= until; next = planned.at(-1)) {
        planned.pop()
        now = next.at
        next.happening(next.at)
      }
      now = Math.max(now, until)
    },
  }
}

export type EventQueue = ReturnType<typeof createQueue>
