import { readFileSync } from 'node:fs'
import { codeOf, FatalError, messageOf, UsageError } from './errors.ts'
import { replaceFile } from './private-folder.ts'
import { textOfFile } from './text/decode.ts'

/** The settings of a `.env`, and what is odd about it. */
interface EnvFile {
  readonly values: Readonly<Record<string, string>>
  /** Names that it has several times; the last one counts. */
  readonly repeated: readonly string[]
}

/** `NAME=value`, perhaps after `export`; in quotes, or up to the first `#` that follows a blank. */
const assignment =
  /^\s*(?:export\s+)?([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([^"'`#\s].*?)?)\s*(?:(?<=[\s="'`])#.*)?$/

/**
 * Reads a `.env`: nothing when there is none.
 * @param isSetting whether a name is one of this program; a line that names one and is no assignment must not be passed over
 * @throws UsageError when the file cannot be read, or such a line is not understood
 */
export function readEnvFile(path: string, isSetting: (name: string) => boolean): EnvFile {
  const values: Record<string, string> = {}
  const repeated = new Set<string>()
  for (const [index, line] of linesOf(path).entries()) {
    const [, name = '', ...forms] = assignment.exec(line) ?? []
    const value = forms.find((form) => form !== undefined) ?? ''
    const named = name === '' ? settingIn(line, isSetting) : undefined
    if (named !== undefined)
      throw new UsageError(`${path} line ${index + 1} is not understood; write ${named.toUpperCase()}=value`)
    // What no byte of UTF-8 became.
    if (isSetting(name) && value.includes('\ufffd'))
      throw new UsageError(`${path} line ${index + 1} is not UTF-8: save the file as UTF-8`)
    if (name === '') continue
    if (Object.hasOwn(values, name) && values[name] !== value) repeated.add(name)
    values[name] = value
  }
  return { values, repeated: [...repeated] }
}

/** The setting that a line is about, as in `set NAME=value`, `NAME: value` or `"NAME" = value`. */
function settingIn(line: string, isSetting: (name: string) => boolean): string | undefined {
  if (/^\s*#/.test(line)) return undefined
  return line
    .match(/[a-z_]\w*/gi)
    ?.slice(0, 2)
    .find((word) => isSetting(word.toUpperCase()))
}

/**
 * Sets variables in a `.env` and leaves every other line as it is; undefined removes one. The file is replaced as a whole, and
 * only its owner can read it.
 * @throws FatalError when it cannot be written, UsageError when it is not UTF-8
 */
export function setInEnvFile(path: string, values: Readonly<Record<string, string | undefined>>): void {
  try {
    const others = linesOf(path).filter((line) => !Object.hasOwn(values, assignment.exec(line)?.[1] ?? ''))
    const own = Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${quoted(value)}`],
    )
    replaceFile(path, `${[...others, ...own].join('\n')}\n`)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new FatalError(`${path} cannot be written: ${messageOf(error)}`, { cause: error })
  }
}

function linesOf(path: string): string[] {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw new UsageError(`${path} cannot be read: ${messageOf(error)}`)
  }
  const text = textOfFile(bytes, path).replace(/[\r\n]+$/, '')
  return text === '' ? [] : text.split(/\r\n?|\n/)
}

/** As it is read back: there are no escapes, only three kinds of quotes. */
function quoted(value: string): string {
  if (/^[\w./:@%?&=+,~-]+$/.test(value)) return value
  const quote = ["'", '"', '`'].find((mark) => !value.includes(mark))
  if (quote === undefined || /[\r\n]/.test(value))
    throw new FatalError('a value with line breaks or with all kinds of quotes cannot be kept in .env')
  return `${quote}${value}${quote}`
}
