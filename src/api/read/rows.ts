/** An instant: a Date, or text in ISO 8601, `now`, `today`, `yesterday`, `-12h`, `-7d`. */
export type Instant = Date | string

/** What every question takes besides its arguments and filters. */
interface Shape {
  /** Rows of a page, 1 to 10,000 (default 100); the rows of all pages are read one page after the other. */
  readonly limit?: number | undefined
  /** Columns such as `level.desc.nullslast,internal_name`; `asc` or `desc` alone: all columns, from the first. */
  readonly order?: string | undefined
}

/** An operator and a value, such as `gte.80`, `in.(mythic,fabled)`, `like.*bow*` or `not.is.null`. */
type Condition =
  `${'' | 'not.'}${'eq' | 'neq' | 'gt' | 'gte' | 'lt' | 'lte' | 'like' | 'ilike' | 'in' | 'is'}.${string}`

/** The value of a column, of lists and JSON as text, or what it fulfils. */
type Filter<Value> = (Value extends Instant | number | boolean ? Value : string) | Condition

/** Each column of an answer is a filter; of several of one column, all are fulfilled. */
export type Filters<Columns> = Shape & {
  readonly [Name in keyof Columns]?: Filter<Columns[Name]> | readonly Filter<Columns[Name]>[] | undefined
}

/** What a function takes: of all arguments there are, those that it needs and the others that it has, and filters of its columns. */
export type Given<All, Needed extends keyof All, Other extends keyof All, Columns> = Pick<All, Needed> & {
  readonly [Name in Other]?: All[Name] | undefined
} & Filters<Omit<Columns, Needed | Other>>

/** A row as it is sent: instants as ISO 8601, null for what is unknown. */
export type Row<Columns> = { readonly [Name in keyof Columns]: Exclude<Columns[Name], Date> | null }

/** Options of one question. */
export interface ReadOptions {
  /** Ends the requests of the question. */
  readonly signal?: AbortSignal | undefined
}

/** A page of rows. */
export interface Page<Row> {
  /** Arguments and filters as the server read them: names as uuids, `now` and `-7d` as instants; of several filters of a column all. */
  readonly arguments: Readonly<Record<string, string | readonly string[]>>
  readonly rows: readonly Row[]
  /** For `page`; null on the last page. */
  readonly cursor: string | null
}

/** The rows of an answer; they are requested when they are read, and anew each time. All of them, page by page: `for await`. */
export interface Rows<Row> extends AsyncIterable<Row> {
  /** The first page, or the one with this cursor. */
  page(cursor?: string): Promise<Page<Row>>
  /** The rows of all pages. */
  all(): Promise<Row[]>
}

/** A question with arguments that are needed. */
export type Ask<Given, Row> = (given: Given, options?: ReadOptions) => Rows<Row>

/** A question that needs no argument. */
export type AskAny<Given, Row> = (given?: Given, options?: ReadOptions) => Rows<Row>
