import { isDeepStrictEqual } from 'node:util'
import { UsageError } from '../errors.ts'

/** What some editors and shells of Windows put before a text; it belongs to the encoding, not to the text. */
const BYTE_ORDER_MARK = '\ufeff'

/** A text without its byte order mark. */
export function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
}

/** JSON in UTF-8, with or without a byte order mark. @throws SyntaxError */
export function parseJsonBytes(bytes: Buffer): unknown {
  return parseJsonText(withoutMark(bytes.toString('utf8')))
}

/**
 * What a text says as JSON. Of several values that an object has under one name `JSON.parse` takes the last, right or wrong. Where they
 * differ, all of them stand there as a list, so that no record and no field is read from one of them.
 * @throws SyntaxError
 */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return countNames(value) === countNamesIn(text) ? value : parseTwins(text)
}

/** How many fields all objects in a value have. */
function countNames(value: unknown): number {
  let count = 0
  const waiting: object[] = typeof value === 'object' && value !== null ? [value] : []
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const isList = Array.isArray(next)
    for (const name in next) {
      if (!isList) count++
      const inner: unknown = next[name as keyof typeof next]
      if (typeof inner === 'object' && inner !== null) waiting.push(inner)
    }
  }
  return count
}

/** How many names of fields are written in a text that is JSON: texts before a colon. */
function countNamesIn(text: string): number {
  let count = 0
  for (let start = text.indexOf('"'); start >= 0; ) {
    let end = text.indexOf('"', start + 1)
    while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
    let after = end + 1
    while (text.charCodeAt(after) <= 32) after++
    if (text[after] === ':') count++
    start = text.indexOf('"', end + 1)
  }
  return count
}

function isEscaped(text: string, at: number): boolean {
  let before = at
  while (text[before - 1] === '\\') before--
  return (at - before) % 2 === 1
}

/** Parses a text in which names of fields come twice in one object. */
function parseTwins(text: string): unknown {
  let mark = 'twin'
  while (text.includes(mark)) mark += '+'
  const open: Map<string, number>[] = []
  const renamed = text.replace(/"(?:[^"\\]+|\\.)*"(\s*:)?|[[{}\]]/g, (token: string, isName: string | undefined) => {
    if (token === '{' || token === '[') open.push(new Map())
    else if (token === '}' || token === ']') open.pop()
    else if (isName !== undefined) {
      const name = String(JSON.parse(token.slice(0, -isName.length)))
      const names = open.at(-1)
      const times = names?.get(name) ?? 0
      names?.set(name, times + 1)
      if (times > 0) return `${JSON.stringify(`${mark}${times} ${name}`)}:`
    }
    return token
  })
  return JSON.parse(renamed, (_name, inner: unknown) => (isObject(inner) ? withTwins(inner, mark) : inner))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object with the values of renamed fields where they were written, as a list unless they are the same. */
function withTwins(object: Record<string, unknown>, mark: string): Record<string, unknown> {
  const twins = Object.keys(object).filter((name) => name.startsWith(mark))
  const lists = new Map<string, unknown[]>()
  for (const twin of twins) {
    const name = twin.slice(twin.indexOf(' ') + 1)
    const list = lists.get(name) ?? [object[name]]
    lists.set(name, list)
    if (!list.some((one) => isDeepStrictEqual(one, object[twin]))) list.push(object[twin])
    delete object[twin]
  }
  for (const [name, list] of lists) if (list.length > 1) object[name] = list
  return object
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
