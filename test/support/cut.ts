import type { Database, Sql } from '../../src/db/database.ts'

/** What is done at one statement of a work. */
interface Cut {
  readonly at: number
  readonly act: () => Promise<void>
}

/** The same database, which does something before its nth statement and before each later one. */
export function cutAt(db: Database, cut: Cut): Database {
  let count = 0
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    count += 1
    if (count >= cut.at) await cut.act()
    return await work()
  }
  const of = (sql: Sql): Sql => ({
    query: (text, params) => counted(() => sql.query(text, params)),
    values: (text, params) => counted(() => sql.values(text, params)),
    copy: (table, columns, rows) => counted(() => sql.copy(table, columns, rows)),
    copyCsv: (...given) => counted(() => sql.copyCsv(...given)),
    ...(sql.copyOut && {
      copyOut: (statement, onLines) => counted(async () => await sql.copyOut?.(statement, onLines)),
    }),
  })
  return {
    ...db,
    ...of(db),
    transaction: async (work, ...limits) => await db.transaction(async (sql) => await work(of(sql)), ...limits),
  }
}
