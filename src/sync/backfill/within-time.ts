import type { RecordedAnswers } from '../../api/recordings/recorded.ts'
import { earliest } from '../validate/clock-guard.ts'

/** The clock of the machine that recorded may be ahead of this one by so much, ms. */
const tolerance = 15 * 60_000

/**
 * The recorded responses without those that nobody can have recorded: before the game began, or after now. Each of these
 * is named by its line.
 * @param now ms since the epoch
 */
export function withinTime(
  folder: RecordedAnswers,
  now: number,
): { readonly answers: RecordedAnswers; readonly refused: readonly string[] } {
  const { answers, refused } = folder.between(earliest, now + tolerance)
  const [from, until] = [earliest, now].map(iso)
  const reason = ({ line, at }: (typeof refused)[number]) =>
    `index.jsonl line ${line} is not loaded: it was recorded at ${iso(at)}, which is not between ${from} and ${until}`
  return { answers, refused: refused.map(reason) }
}

function iso(instant: number): string {
  return new Date(instant).toISOString()
}
