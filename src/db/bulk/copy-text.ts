import { RecordError } from '../../base/errors.ts'
import type { CopyValue } from '../database.ts'
import { arrayText, byteaText, instantText } from './values.ts'

/** How much text is gathered before it is sent, in characters. Below this, each send costs more than its bytes. */
const CHUNK_CHARACTERS = 64 * 1024

const NUL = String.fromCharCode(0)
// One test per string decides; only the few that fail it are escaped.
const SPECIAL = new RegExp(`[${NUL}\\\\\t\n\r]`)
const EVERY_SPECIAL = /[\\\t\n\r]/g
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/**
 * Rows in the text format of COPY, in chunks of about 64 K characters; the last one may be shorter.
 * Pure and lazy: it holds one chunk at a time.
 *
 * null and undefined are NULL, bytes a bytea, Dates instants, objects JSON. An array is JSON too, except under a column
 * that `arrays` names: there it is a Postgres array.
 *
 * @param columns names of the columns, for messages
 * @throws RecordError when a string holds the character U+0000, which Postgres cannot store
 */
export function* copyText(
  columns: readonly string[],
  rows: Iterable<readonly CopyValue[]>,
  arrays: ReadonlySet<string> = new Set(),
  chunkLength: number = CHUNK_CHARACTERS,
): Generator<{ text: string; rows: number }> {
  const isArray = columns.map((name) => arrays.has(name))
  const width = columns.length
  let text = ''
  let count = 0
  for (const row of rows) {
    for (let index = 0; index < width; index++) {
      if (index > 0) text += '\t'
      text += field(row[index], isArray[index] === true, columns[index] ?? '')
    }
    text += '\n'
    count++
    if (text.length >= chunkLength) {
      yield { text, rows: count }
      text = ''
      count = 0
    }
  }
  if (count > 0) yield { text, rows: count }
}

function field(value: CopyValue, isArray: boolean, column: string): string {
  if (value === null || value === undefined) return '\\N'
  if (typeof value === 'string') return escaped(value, column)
  if (typeof value !== 'object') return typeof value === 'boolean' ? (value ? 't' : 'f') : String(value)
  if (value instanceof Date) return instantText(value)
  if (value instanceof Uint8Array) return `\\${byteaText(value)}`
  return escaped(isArray && Array.isArray(value) ? arrayText(value) : JSON.stringify(value), column)
}

function escaped(text: string, column: string): string {
  if (!SPECIAL.test(text)) return text
  if (text.includes(NUL))
    throw new RecordError(`column ${column}: the text holds the character U+0000, which Postgres cannot store`, {
      context: { column },
    })
  return text.replace(EVERY_SPECIAL, (special) => ESCAPES[special] ?? special)
}
