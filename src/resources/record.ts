/** A field of a record of unknown shape, or undefined when it is not there. */
export function fieldOf(record: unknown, field: string): unknown {
  return typeof record === 'object' && record !== null ? Reflect.get(record, field) : undefined
}

/** A text field of a record of unknown shape, or undefined when it is not there, empty or not text. */
export function textField(record: unknown, field: string): string | undefined {
  const value = fieldOf(record, field)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Every number in a record of any depth, under the names that lead to it: `raids.list.Some Raid`. */
export function numbersIn(value: unknown, path = ''): [string, number][] {
  if (typeof value === 'number') return [[path, value]]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => numbersIn(inner, path ? `${path}.${name}` : name))
}
