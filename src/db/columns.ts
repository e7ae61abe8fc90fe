import { customType, PgColumnBuilder, type PgColumnBuilderBase } from 'drizzle-orm/pg-core'
import { FatalError } from '../app/errors.ts'

/** Columns of a table by property name, as drizzle's builders. */
export type ColumnBuilders = Record<string, PgColumnBuilderBase>

/** A `timestamptz` column as a Date. Unlike drizzle's own it lets `FOREVER` (infinity) through both ways. */
export const instant = customType<{ data: Date; driverData: Date }>({ dataType: () => 'timestamp with time zone' })

/** A `timestamptz` column that takes the API's own text (ISO 8601): a Date would cut its microseconds. */
export const textInstant = customType<{ data: string; driverData: string }>({
  dataType: () => 'timestamp with time zone',
})

/** A `bytea` column as a Uint8Array. */
export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })

/** `validFrom` -> `valid_from`. Digits stay with the word before them: `level2Xp` -> `level2_xp`. */
export function snakeCase(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function canBeNamed(builder: object): builder is { setName(name: string): void } {
  return 'setName' in builder && typeof builder.setName === 'function'
}

/**
 * Gives every column that has no explicit SQL name the snake_case of its property name, and returns the same columns.
 * drizzle can do that by `casing`, but only where each of its users asks for it; COPY and hand-written SQL are not.
 * @throws FatalError when drizzle no longer lets builders be named
 */
export function snakeCased<Columns extends ColumnBuilders>(columns: Columns): Columns {
  for (const [property, builder] of Object.entries(columns)) {
    if (!canBeNamed(builder)) throw new FatalError(`column ${property} is no drizzle column builder`)
    builder.setName(snakeCase(property))
  }
  return columns
}

/** Marks every column `not null`, and returns the same columns. */
export function requireAll(columns: ColumnBuilders): void {
  for (const builder of Object.values(columns)) if (builder instanceof PgColumnBuilder) builder.notNull()
}
