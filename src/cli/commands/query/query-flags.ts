import { commonOptions, option, rowsLimit, wide } from '../../options.ts'

export interface QueryFlags {
  readonly list?: boolean
  readonly all?: boolean
  readonly explain?: boolean
  readonly csv?: boolean
  readonly ndjson?: boolean
  readonly raw?: boolean
  readonly sql?: boolean
  readonly limit?: string
}

export const queryOptions = [
  option('--list', 'list the questions by topic, each with an example'),
  option('--all', 'with --list: also the views and functions that the questions are made of'),
  option('--explain', 'show what the columns mean, their units, and the tables they come from, instead of rows'),
  option('--csv', 'as CSV; text that a spreadsheet would run as a formula gets a leading apostrophe'),
  option('--ndjson', 'as JSON, a line for each row'),
  option('--raw', 'with --csv: text exactly as it is, without such apostrophes'),
  option('--sql', 'print the statement instead of running it'),
  rowsLimit,
  wide,
]

/** `--list`, `--csv`, ... and those of every command. */
export const flagNames: readonly string[] = [...queryOptions, ...commonOptions].flatMap(({ long }) => long ?? [])
