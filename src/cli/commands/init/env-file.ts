import { readFileSync } from 'node:fs'
import { codeOf, FatalError, messageOf } from '../../../app/errors.ts'
import { replaceFile } from '../../../app/private-folder.ts'

/**
 * Sets variables in a `.env` and leaves every other line as it is; undefined removes one. The file is replaced as a whole, and
 * only its owner can read it.
 * @throws FatalError when it cannot be written
 */
export function setInEnvFile(path: string, values: Readonly<Record<string, string | undefined>>): void {
  try {
    const others = linesOf(path).filter((line) => !(nameOf(line) in values))
    const own = Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${quoted(value)}`],
    )
    replaceFile(path, `${[...others, ...own].join('\n')}\n`)
  } catch (error) {
    throw new FatalError(`${path} cannot be written: ${messageOf(error)}`, { cause: error })
  }
}

function linesOf(path: string): string[] {
  try {
    const text = readFileSync(path, 'utf8').replace(/\n+$/, '')
    return text === '' ? [] : text.split('\n')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

function nameOf(line: string): string {
  return /^\s*(?:export\s+)?([A-Z_][A-Z0-9_]*)\s*=/i.exec(line)?.[1] ?? ''
}

/** As `parseEnv` of Node reads it back: it knows no escapes, only three kinds of quotes. */
function quoted(value: string): string {
  if (/^[\w./:@%?&=+,~-]+$/.test(value)) return value
  const quote = ["'", '"', '`'].find((mark) => !value.includes(mark))
  if (quote === undefined || /[\r\n]/.test(value))
    throw new FatalError('a value with line breaks or with all kinds of quotes cannot be kept in .env')
  return `${quote}${value}${quote}`
}
