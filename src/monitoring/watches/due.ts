import { isQuiet, parseQuietHours } from './quiet-hours.ts'
import type { Watch } from './watch.ts'

/** A change that a watch sends, as far as its time matters. */
export interface Pending {
  /** Of the change in the outbox. */
  readonly number: number
  /** When the change was written. */
  readonly writtenAt: Date
}

/** What to do with the changes up to a number. */
interface Due {
  /** Up to this number nothing is to be sent. */
  readonly skip: number
  /** What comes after it is sent, up to this number. Undefined: not yet. */
  readonly send?: number
  /** When to look again, ms since the epoch, where time alone can make it due. */
  readonly at?: number
}

const MINUTE = 60_000

/**
 * Decides over the matching changes of a watch, in order.
 * @param upto the last number that was read; all before it were
 * @param now ms since the epoch
 * @param isFull whether there is more than can be read at once: then nothing is waited for but the end of quiet hours
 */
export function dueOf(
  watch: Pick<Watch, 'atLeast' | 'quiet' | 'groupSeconds'>,
  matching: readonly Pending[],
  upto: number,
  now: number,
  isFull = false,
): Due {
  const { atLeast, quiet, groupSeconds } = watch
  if (atLeast && !reaches(matching, atLeast)) {
    if (isFull) return { skip: upto }
    const lasts = atLeast.minutes * MINUTE
    // What is older can be no part of enough any more.
    const recent = matching.find(({ writtenAt }) => writtenAt.getTime() > now - lasts)
    return recent ? { skip: recent.number - 1, at: recent.writtenAt.getTime() + lasts } : { skip: upto }
  }
  const [first] = matching
  if (!first) return { skip: upto }
  const skip = first.number - 1
  // A clock that was ahead must not delay it for longer than the group.
  const grouped = Math.min(first.writtenAt.getTime(), now) + groupSeconds * 1000
  if (!isFull && grouped > now && first.writtenAt.getTime() <= now + groupSeconds * 1000) return { skip, at: grouped }
  const hours = quiet === undefined ? null : parseQuietHours(quiet)
  if (hours && isQuiet(hours, now)) return { skip, at: now + MINUTE }
  return { skip, send: upto }
}

function reaches(matching: readonly Pending[], { events, minutes }: NonNullable<Watch['atLeast']>): boolean {
  const times = matching.map(({ writtenAt }) => writtenAt.getTime()).sort((one, other) => one - other)
  return times.some((time, index) => (times[index + events - 1] ?? Number.POSITIVE_INFINITY) - time <= minutes * MINUTE)
}
