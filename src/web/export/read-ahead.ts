import type { Sql, SqlValue } from '../../db/database.ts'
import { type FindItem, readItems } from '../pages/items.ts'
import type { Reader } from '../reading.ts'

/** So many items are read at once. */
const ITEMS = 500

/** Of so many statements the rows are kept, and of none more than so many rows. */
const [STATEMENTS, ROWS] = [300, 5000]

/** Finds items, and reads those whose pages are made next with the first that was not read yet. */
export function itemsAhead(): { readonly find: FindItem; expect(paths: readonly string[]): void } {
  let next: readonly string[] = []
  let read: Awaited<ReturnType<typeof readItems>> = new Map()
  return {
    find: async (sql, id) => {
      if (!read.has(id)) {
        const ids = new Set([id])
        for (const path of next) {
          if (ids.size === ITEMS) break
          if (path.startsWith('/items/')) ids.add(decodeURIComponent(path.slice('/items/'.length)))
        }
        read = await readItems(sql, [...ids])
      }
      const found = read.get(id)
      if (!found) throw new Error(`nothing was read of ${id}`)
      return found
    },
    expect: (paths) => {
      next = paths
    },
  }
}

/** The same reader, which runs equal statements once: for what is all as of one instant. */
export function remembering(reader: Reader): Reader {
  const kept = new Map<string, readonly unknown[]>()
  const remembered = (sql: Sql): Sql => ({
    ...sql,
    query: async <Row>(text: string, values?: readonly SqlValue[]) => {
      const key = JSON.stringify([text, values])
      const known = kept.get(key)
      const rows = known ?? (await sql.query(text, values))
      kept.delete(key)
      if (rows.length <= ROWS) kept.set(key, rows)
      const [oldest] = kept.keys()
      if (kept.size > STATEMENTS && oldest !== undefined) kept.delete(oldest)
      return [...rows] as Row[]
    },
  })
  return {
    ...reader,
    read: (work) => reader.read((sql) => work(remembered(sql))),
  }
}
