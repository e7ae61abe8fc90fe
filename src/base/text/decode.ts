import { UsageError } from '../errors.ts'

/** What some editors and shells of Windows put before a text; it belongs to the encoding, not to the text. */
const BYTE_ORDER_MARK = '\ufeff'

/** A text without its byte order mark. */
export function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
}

/** JSON in UTF-8, with or without a byte order mark. @throws SyntaxError */
export function parseJsonBytes(bytes: Buffer): unknown {
  return JSON.parse(withoutMark(bytes.toString('utf8')))
}

/**
 * The text of a file that people write.
 * @throws UsageError for UTF-16, which Notepad and PowerShell call Unicode: read as UTF-8, every line of it would be unknown
 */
export function textOfFile(bytes: Buffer, file: string): string {
  const hasMark = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (hasMark || bytes.includes(0)) throw new UsageError(`${file} is not UTF-8 but looks like UTF-16: save it as UTF-8`)
  return withoutMark(bytes.toString('utf8'))
}
