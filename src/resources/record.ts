/** A field of a record of unknown shape, or undefined when it is not there. */
export function fieldOf(record: unknown, field: string): unknown {
  return typeof record === 'object' && record !== null ? Reflect.get(record, field) : undefined
}

/** A text field of a record of unknown shape, or undefined when it is not there, empty or not text. */
export function textField(record: unknown, field: string): string | undefined {
  const value = fieldOf(record, field)
  return typeof value === 'string' && value !== '' ? value : undefined
}
