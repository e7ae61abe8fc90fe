import { visibleLine } from '../../../app/terminal-text.ts'
import type { Imported } from '../../../lake/import/import.ts'
import { formatTable } from '../../output/table.ts'
import { bytesText, durationText } from '../../output/units.ts'

const columns = ['table', 'rows', 'taken', 'refused', 'restricted', 'conflicts'] as const

/** What was imported from a lake, for a person. */
export function importedText(done: Imported, seconds: number): string {
  const { tables, files, bytes, known } = done
  const table = tables.length > 0 ? formatTable(columns, tables) : ''
  const before = known > 0 ? `; ${known} files were imported before` : ''
  return `${table}${files} files, ${bytesText(bytes)}, in ${durationText(seconds)}${before}\n${linesOf(done)}`
}

/** What was not imported, and why. */
export function linesOf({ refused, notTaken }: Pick<Imported, 'refused' | 'notTaken'>): string {
  const lines = refused.map(({ what, reason }) => `refused: ${what}: ${reason}`)
  if (notTaken.length > 0) lines.push(`not imported: ${notTaken.join(', ')}`)
  return lines.map((line) => `${visibleLine(line)}\n`).join('')
}
