import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { isInstant, isStorable, isUuid } from '../../api/schemas/form/limits.ts'
import { FatalError } from '../../base/errors.ts'

/** Why Postgres would refuse a value, or undefined when it takes it. */
export type ValueCheck = (value: unknown) => string | undefined

/**
 * The check of one column, compiled once for all rows.
 * @param longest of a text, in characters, where an index has to hold it
 */
export function columnCheck(column: AnyPgColumn, longest = Infinity): ValueCheck {
  const check = checkOf(column, longest)
  const isRequired = column.notNull && !column.hasDefault
  return (value) => {
    if (value === null || value === undefined) return isRequired ? 'is missing' : undefined
    return check(value)
  }
}

function checkOf(column: AnyPgColumn, longest: number): ValueCheck {
  switch (column.columnType) {
    case 'PgInteger':
      return requiring(
        'a whole number of 32 bits',
        (value) => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31,
      )
    case 'PgBigInt53':
      return requiring('a whole number below 2^53', Number.isSafeInteger)
    case 'PgDoublePrecision':
      // What is larger is not exact, and queries that count with it as a whole number would fail.
      return requiring(
        'a number up to 2^53',
        (value) => typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER,
      )
    case 'PgReal':
      return requiring('a number of 32 bits', isReal)
    case 'PgText':
      return textCheck(longest)
    case 'PgArray':
      return listCheck(column)
    case 'PgBoolean':
      return requiring('true or false', (value) => typeof value === 'boolean')
    case 'PgUUID':
      return requiring('a uuid', (value) => typeof value === 'string' && isUuid(value))
    case 'PgCustomColumn':
      if (column.getSQLType() === 'timestamp with time zone') return requiring('an instant (ISO 8601)', isInstant)
      break
    case 'PgJsonb':
      // Made of the document, whose text is checked as a whole.
      return () => undefined
  }
  throw new FatalError(`column ${column.name}: values of type ${column.getSQLType()} cannot be checked`)
}

function requiring(what: string, fits: (value: unknown) => boolean): ValueCheck {
  return (value) => (fits(value) ? undefined : `must be ${what}, got ${shown(value)}`)
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`
}

function textCheck(longest: number): ValueCheck {
  return (value) => {
    if (typeof value !== 'string') return `must be text, got ${shown(value)}`
    if (value.length > longest) return `must be text of at most ${longest} characters, got ${value.length}`
    return isStorable(value) ? undefined : `holds a character that cannot be stored: ${shown(value)}`
  }
}

function listCheck(column: AnyPgColumn): ValueCheck {
  if (!('baseColumn' in column)) throw new FatalError(`column ${column.name} is a list of unknown values`)
  const check = columnCheck(column.baseColumn as AnyPgColumn)
  return (value) => {
    if (!Array.isArray(value)) return `must be a list, got ${shown(value)}`
    for (const element of value) {
      const wrong = check(element)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }
}

/** Postgres refuses what is too large for `real`, and what is too small to differ from zero. */
function isReal(value: unknown): boolean {
  if (typeof value !== 'number') return false
  const rounded = Math.fround(value)
  return Number.isFinite(rounded) && (rounded !== 0 || value === 0)
}
