import type { Clock, VirtualClock } from '../base/clock.ts'

/** A clock that can also be set forward, as the control routes do. */
export interface MovableClock extends Clock {
  /** Sets the clock to `instant` (ms since the epoch); going back is refused with a RangeError. */
  moveTo(instant: number): Promise<void>
}

function isVirtual(clock: Clock): clock is VirtualClock {
  return 'advanceTo' in clock
}

/** A clock that stands at `start` (ms since the epoch) now, and then runs `speed` times as fast as another one. */
export function shiftedClock(clock: Clock, start: number, speed: number): Clock {
  const origin = clock.now()
  return {
    now: () => Math.round(start + (clock.now() - origin) * speed),
    sleep: (ms, signal) => clock.sleep(ms / speed, signal),
  }
}

/** Makes any clock movable: a virtual one is moved itself, the machine's own gets an offset. */
export function movableClock(clock: Clock): MovableClock {
  if (isVirtual(clock)) return { now: clock.now, sleep: clock.sleep, moveTo: clock.advanceTo }
  let offset = 0
  const now = () => clock.now() + offset
  return {
    now,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    moveTo: async (instant) => {
      if (instant < now()) throw new RangeError(`clock cannot go back from ${now()} to ${instant}`)
      offset = instant - clock.now()
    },
  }
}
