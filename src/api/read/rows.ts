/** An instant: a Date, or text in ISO 8601, `now`, `today`, `yesterday`, `-12h`, `-7d`. */
export type Instant = Date | string

/** What every question takes besides its arguments. */
interface Paged {
  /** Rows of a page, 1 to 10,000 (default 100); the rows of all pages are read one page after the other. */
  readonly limit?: number | undefined
}

/** What every question that is a view takes besides its filters. */
interface Ordered extends Paged {
  /** By all columns, from the first. */
  readonly order?: 'asc' | 'desc' | undefined
}

/** The arguments of a function: of all there are, those that it needs, and the others that it takes. */
export type Given<All, Needed extends keyof All, Other extends keyof All> = Paged &
  Pick<All, Needed> & { readonly [Name in Other]?: All[Name] | undefined }

/** The arguments of a view: each column is a filter, of lists and JSON by their text. */
export type Filters<Columns> = Ordered & {
  readonly [Name in keyof Columns]?:
    | (Columns[Name] extends Instant | number | boolean ? Columns[Name] : string)
    | undefined
}

/** A row as it is sent: instants as ISO 8601, null for what is unknown. */
export type Row<Columns> = { readonly [Name in keyof Columns]: Exclude<Columns[Name], Date> | null }

/** Options of one question. */
export interface ReadOptions {
  /** Ends the requests of the question. */
  readonly signal?: AbortSignal | undefined
}

/** A page of rows. */
export interface Page<Row> {
  /** As the server read them: names as uuids, `now` and `-7d` as instants. */
  readonly arguments: Readonly<Record<string, string>>
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
