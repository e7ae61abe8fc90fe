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
    const end = endOfText(text, start)
    if (colonAfter(text, end) !== undefined) count++
    start = text.indexOf('"', end + 1)
  }
  return count
}

/** Where the text that begins at a quotation mark ends. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end
}

function isEscaped(json: string, at: number): boolean {
  let before = at
  while (json[before - 1] === '\\') before--
  return (at - before) % 2 === 1
}

/** Where the colon is that makes a text the name of a field. */
function colonAfter(json: string, end: number): number | undefined {
  let after = end + 1
  while (json.charCodeAt(after) <= 32) after++
  return json[after] === ':' ? after : undefined
}

/** Parses a text in which names of fields come twice in one object, in one pass over it whatever it holds. */
function parseTwins(text: string): unknown {
  const open: Map<string, number>[] = []
  const again: { readonly start: number; readonly colon: number; readonly name: string; readonly times: number }[] = []
  const taken = new Set<string>()
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') open.push(new Map())
    else if (character === '}' || character === ']') open.pop()
    if (character !== '"') continue
    const end = endOfText(text, at)
    const colon = colonAfter(text, end)
    if (colon !== undefined) {
      const name = String(JSON.parse(text.slice(at, end + 1)))
      const names = open.at(-1)
      const times = names?.get(name) ?? 0
      names?.set(name, times + 1)
      taken.add(name.split(' ', 1)[0] ?? '')
      if (times > 0) again.push({ start: at, colon, name, times })
    }
    at = end
  }
  // No name begins with this word.
  let word = 0
  while (taken.has(`twin${word}`)) word++
  const parts: string[] = []
  let from = 0
  for (const { start, colon, name, times } of again) {
    parts.push(text.slice(from, start), JSON.stringify(`twin${word} ${times} ${name}`))
    from = colon
  }
  parts.push(text.slice(from))
  const value: unknown = JSON.parse(parts.join(''))
  joinTwins(value, `twin${word} `, DEEPEST_TWINS)
  return value
}

/** What lies deeper than so many levels is in no record that can be read, and a call for each level would overflow the stack. */
const DEEPEST_TWINS = 500

function joinTwins(value: unknown, mark: string, levels: number): void {
  if (levels === 0 || typeof value !== 'object' || value === null) return
  for (const inner of Object.values(value)) joinTwins(inner, mark, levels - 1)
  if (!Array.isArray(value)) joinFields(value as Record<string, unknown>, mark)
}

/** Puts the values of renamed fields where they were written, as a list unless they are all the same. */
function joinFields(object: Record<string, unknown>, mark: string): void {
  const values = new Map<string, unknown[]>()
  for (const twin of Object.keys(object).filter((name) => name.startsWith(mark))) {
    const name = twin.slice(twin.indexOf(' ', mark.length) + 1)
    const known = values.get(name) ?? [object[name]]
    values.set(name, known)
    known.push(object[twin])
    delete object[twin]
  }
  for (const [name, all] of values) if (!all.every((one) => isSame(one, all[0], DEEPEST_TWINS))) object[name] = all
}

/** Whether two values of JSON are the same; what lies too deep is not. */
function isSame(one: unknown, other: unknown, levels: number): boolean {
  if (one === other) return true
  if (levels === 0 || typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return false
  const names = Object.keys(one)
  if (Array.isArray(one) !== Array.isArray(other) || names.length !== Object.keys(other).length) return false
  return names.every(
    (name) => Object.hasOwn(other, name) && isSame(Reflect.get(one, name), Reflect.get(other, name), levels - 1),
  )
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
