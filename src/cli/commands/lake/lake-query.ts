import { wholeNumber } from '../../../app/whole-number.ts'
import { storeSettings } from '../../../lake/lake-store.ts'
import { askLake } from '../../../lake/query.ts'
import { MOST_BYTES, openPlace } from '../../../lake/read/place.ts'
import { type Context, showResult, tableWidth } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'

/** `lake query PLACE NAME`: answers a question about a lake. Returns the exit code. */
export async function lakeQuery(
  context: Context,
  { limit = '100', maxBytes = MOST_BYTES }: { readonly limit?: string; readonly maxBytes?: string },
  place: string,
  name: string,
) {
  const { app, signal } = context
  const rows = await askLake(openPlace(place, storeSettings(app)), name, {
    ...{ limit: wholeNumber('--limit', limit), signal },
    maxBytes: wholeNumber('--max-bytes', maxBytes, Number.MAX_SAFE_INTEGER),
  })
  const columns = Object.keys(rows[0] ?? {})
  const text = rows.length === 0 ? 'no rows\n' : formatTable(columns, rows, { width: tableWidth(context) })
  await showResult(context, rows, text)
  return exitCode.done
}
