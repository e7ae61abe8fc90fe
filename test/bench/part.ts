import type { Outcome } from './target.ts'
import type { Extent } from './year/draws.ts'

/** What a part of the bench works with. */
export interface Bench {
  /** The compiled command, for what is measured as processes of their own. */
  readonly program: string
  /** An empty place for databases; it is removed afterwards. */
  readonly folder: string
  /** How much history questions are asked of. */
  readonly extent: Pick<Extent, 'days' | 'guilds' | 'isWhole'> & {
    /** At most so many of each archive in git. */
    readonly commits: number
  }
  /** Makes an empty database on the server and gives its URL. */
  createDatabase(name: string): Promise<string>
  /** Prints a table under its title. */
  say(title: string, rows: readonly object[]): void
}

/** Measures something, prints what it found, and gives what it came to of its targets. */
export type Part = (bench: Bench) => Promise<readonly Outcome[]>
