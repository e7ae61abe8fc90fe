import { wholeNumber } from '../../../app/whole-number.ts'
import { askLake } from '../../../lake/query.ts'
import { type Context, showResult, tableWidth } from '../../context.ts'
import { formatTable } from '../../output/table.ts'
import { folderOf } from './lake-export.ts'

/** `lake query PLACE NAME`: answers a question about a lake. */
export async function lakeQuery(
  context: Context,
  { limit = '100' }: { readonly limit?: string },
  place: string,
  name: string,
) {
  const rows = await askLake(folderOf(place), name, wholeNumber('--limit', limit))
  const columns = Object.keys(rows[0] ?? {})
  const text = rows.length === 0 ? 'no rows\n' : formatTable(columns, rows, { width: tableWidth(context) })
  await showResult(context, rows, text)
}
