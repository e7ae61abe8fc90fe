/** Stands for `__proto__` while a schema reads a value: schemas leave out a field of that name. */
const stand = '\u0000__proto__'

/** A value with every field called `__proto__` under another name; the value itself where it has none. */
export function withoutProto<Value>(value: Value): Value {
  return renamed(value, '__proto__', stand) as Value
}

/** The same the other way round. */
export function withProto<Value>(value: Value): Value {
  return renamed(value, stand, '__proto__') as Value
}

/** One step of a path in a value of `withoutProto`, as it stands in the value itself. */
export function stepOf(step: PropertyKey): PropertyKey {
  return step === stand ? '__proto__' : step
}

function renamed(value: unknown, from: string, to: string): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const elements = value.map((one) => renamed(one, from, to))
    return elements.some((one, nth) => one !== value[nth]) ? elements : value
  }
  const fields = Object.entries(value).map(([name, inner]) => [name === from ? to : name, renamed(inner, from, to)])
  const isSame =
    !Object.hasOwn(value, from) && fields.every(([name, inner]) => inner === Reflect.get(value, String(name)))
  // Unlike an assignment, this makes a field of `__proto__` too.
  return isSame ? value : Object.fromEntries(fields)
}
