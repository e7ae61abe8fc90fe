import type { WalkProgress } from '../../api/walk.ts'

type Unit =
  | 'records'
  | 'keys'
  | 'responses'
  | 'hours'
  | 'resources'
  | 'rows'
  | 'commits'
  | 'files'
  | 'pages'
  | 'objects'
  | 'checks'
  | 'tables'

/** How much is done, and of how much; what has no pages says nothing of them. */
type Done = Pick<WalkProgress, 'records' | 'count'> &
  Partial<WalkProgress> & {
    /** How much of the work is done, of 1: where some of what is counted takes longer than others. */
    readonly share?: number
  }

/** Shows the progress of long work. What says nothing of itself is said to go on, every few seconds. */
export interface Progress {
  /** Says of what may be long, and mostly is not, that it goes on: until `stop`, and only after seconds. */
  during(what: string): void
  /**
   * Shows what begins, before there is anything to count.
   * @param everyMs how often a log file has a line; by default every three seconds
   */
  begin(resource: string, everyMs?: number): void
  seen(resource: string, done: Done, unit?: Unit): void
  /** The end of what began; what it is a part of goes on. */
  end(): void
  /** Says no more: the result follows, or a question. */
  stop(): void
}

export const noProgress: Progress = { during() {}, begin() {}, seen() {}, end() {}, stop() {} }
