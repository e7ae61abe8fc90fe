import { FatalError } from '../../app/errors.ts'
import { quoted } from '../bulk/copy-columns.ts'
import type { Database } from '../database.ts'
import { type CopiedTable, listTables } from './copied-table.ts'

/** @throws FatalError when a database has other tables or columns than the source */
export async function refuseOtherTables(target: Database, tables: readonly CopiedTable[]): Promise<void> {
  const textOf = ({ name, columns }: CopiedTable) => `${name} (${[...columns].sort().join(', ')})`
  const [wanted, present] = [tables.map(textOf), (await listTables(target)).map(textOf)]
  const different = [
    ...wanted.filter((table) => !present.includes(table)),
    ...present.filter((table) => !wanted.includes(table)),
  ]
  if (different.length > 0)
    throw new FatalError(
      `${target.place} does not have the tables of the source: ${different.slice(0, 3).join('; ')}; run wynnsync migrate of the same version on both`,
    )
}

/** @throws FatalError when one of the tables has a row */
export async function refuseRows(target: Database, tables: readonly CopiedTable[]): Promise<void> {
  const filled: string[] = []
  for (const { name } of tables) {
    const [row] = await target.query<{ filled: boolean }>(`select exists (select from ${quoted(name)}) as filled`)
    if (row?.filled) filled.push(name)
  }
  if (filled.length === 0) return
  const more = filled.length > 3 ? ` and ${filled.length - 3} more tables` : ''
  throw new FatalError(
    `${target.place} has data of its own, in ${filled.slice(0, 3).join(', ')}${more}: a move needs an empty database; --merge adds the history to one that has some`,
    { context: { place: target.place } },
  )
}
