import type { Sql } from '../../db/database.ts'

/** Rows that cannot be right: how many, and the first of them. */
export interface WrongRows {
  readonly wrong: number
  readonly examples: readonly Readonly<Record<string, unknown>>[]
}

/** What must hold of a database. */
export interface Check {
  /** One word or two, such as `chain`. */
  readonly name: string
  /** Schema-qualified name of the table whose rows are wrong. */
  readonly table: string
  /** What rows are wrong, in a sentence for people. */
  readonly meaning: string
  /** One statement for the wrong rows, their keys first; or what finds them. */
  readonly find: string | ((sql: Sql, signal: AbortSignal | undefined) => Promise<WrongRows>)
  /** Where the rows follow from the versions of a history: its table, and SQL of the key, as text, of a row `wrong`. */
  readonly follows?: { readonly history: string; readonly key: string }
}

/** How many wrong rows of a check are shown. */
const SHOWN_EXAMPLES = 5

/** Counts what a statement finds. */
export async function findWrong(sql: Sql, find: string): Promise<WrongRows> {
  const rows = await sql.query<{ wrong: number; example: Record<string, unknown> }>(
    `with wrong as materialized (${find})
     select (select count(*) from wrong)::int as wrong, to_jsonb(example) as example
       from (select * from wrong limit ${SHOWN_EXAMPLES}) example`,
  )
  return { wrong: rows[0]?.wrong ?? 0, examples: rows.map(({ example }) => example) }
}

/** The same for wrong rows that are found one by one. */
export function collectWrong(): WrongRows & { add(row: Readonly<Record<string, unknown>>): void } {
  const examples: Readonly<Record<string, unknown>>[] = []
  let wrong = 0
  return {
    examples,
    get wrong() {
      return wrong
    },
    add: (row) => {
      wrong++
      if (examples.length < SHOWN_EXAMPLES) examples.push(row)
    },
  }
}
