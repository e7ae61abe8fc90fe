import type { Column } from '../questions.ts'

const byType: readonly (readonly [RegExp, string])[] = [
  [/^timestamp/, 'instant, ISO 8601 in UTC'],
  [/^date$/, 'day, ISO 8601 in UTC'],
  [/^interval$/, 'length of time, such as 2 days 03:04:05'],
]

const byName: readonly (readonly [RegExp, string])[] = [
  [/^(coverage|share|imported)$/, 'share, 0 to 1'],
  [/(^|_)seconds(_|$)/, 'seconds'],
  [/(^|_)hours$/, 'hours'],
  [/(^|_)days(_|$)/, 'days'],
  [/(^|_)percent$/, 'percent'],
  [/^(total|online|hidden)_(avg|max)$|^online$/, 'players'],
  [/^(stored|storage_limit)$/, 'emeralds or pieces'],
  [/^generation$/, 'emeralds or pieces an hour'],
  [/^contributed$/, 'experience points'],
  [/(_rating|_estimate)$/, 'points'],
]

/** The unit of a column of instants, lengths of time or numbers; undefined for others, and for plain counts and ranks. */
export function unitOf({ name, type }: Pick<Column, 'name' | 'type'>): string | undefined {
  const found = byType.find(([pattern]) => pattern.test(type))
  if (found) return found[1]
  if (!/^(smallint|integer|bigint|numeric|real|double precision)/.test(type)) return undefined
  return byName.find(([pattern]) => pattern.test(name))?.[1]
}
