import * as z from 'zod'

/** A field that the schema of its record does not name. */
export interface UnknownField {
  /** JSON pointer with `*` for every element of an array and every key of a map: the same for all records. */
  readonly path: string
  /** Where it stands in this record. */
  readonly place: readonly (string | number)[]
  readonly value: unknown
}

/** Finds what is unknown in a value, its places relative to the value; undefined, and no garbage, when nothing is. */
type Finder = (value: unknown) => UnknownField[] | undefined

const nothing: Finder = () => undefined

/**
 * Makes the function that lists the fields of a record that its schema does not name, at any depth. Loose schemas keep
 * such fields; this tells them apart from the known ones.
 */
export function unknownFields(schema: z.ZodType): (record: unknown) => UnknownField[] {
  const find = finder(schema)
  return (record) => find(record) ?? []
}

function finder(schema: z.core.$ZodType): Finder {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return finder(schema.unwrap())
  if (schema instanceof z.ZodObject) return objectFinder(schema.shape)
  if (schema instanceof z.ZodArray) return arrayFinder(finder(schema.element))
  if (schema instanceof z.ZodRecord) return mapFinder(finder(schema.valueType))
  if (schema instanceof z.ZodUnion) {
    const finders = schema.options.map((option) => finder(option)).filter((one) => one !== nothing)
    if (finders.length === 0) return nothing
    return (value) => finders.reduce<UnknownField[] | undefined>((found, find) => joined(found, find(value)), undefined)
  }
  return nothing
}

function objectFinder(shape: Readonly<Record<string, z.core.$ZodType>>): Finder {
  const known = new Map(Object.entries(shape).map(([name, field]) => [name, finder(field)]))
  return (value) => {
    if (!isFields(value)) return undefined
    let found: UnknownField[] | undefined
    for (const name of Object.keys(value)) {
      const find = known.get(name)
      if (!find) found = joined(found, [{ path: `/${escaped(name)}`, place: [name], value: value[name] }])
      else if (find !== nothing) found = joined(found, below(find(value[name]), escaped(name), name))
    }
    return found
  }
}

function mapFinder(find: Finder): Finder {
  if (find === nothing) return nothing
  return (value) => {
    if (!isFields(value)) return undefined
    let found: UnknownField[] | undefined
    for (const name of Object.keys(value)) found = joined(found, below(find(value[name]), '*', name))
    return found
  }
}

function arrayFinder(find: Finder): Finder {
  if (find === nothing) return nothing
  return (value) => {
    if (!Array.isArray(value)) return undefined
    let found: UnknownField[] | undefined
    for (let index = 0; index < value.length; index++) found = joined(found, below(find(value[index]), '*', index))
    return found
  }
}

/** What was found in a field, its places relative to the record around it. */
function below(found: UnknownField[] | undefined, step: string, name: string | number): UnknownField[] | undefined {
  return found?.map((one) => ({ path: `/${step}${one.path}`, place: [name, ...one.place], value: one.value }))
}

function joined(before: UnknownField[] | undefined, more: UnknownField[] | undefined): UnknownField[] | undefined {
  return before && more ? [...before, ...more] : (before ?? more)
}

/** A name as a step of a JSON pointer. */
export function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Whether a value is an object with fields, and no array. */
export function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of an object; none of anything else, arrays included. */
export function fieldsOf(value: unknown): [string, unknown][] {
  return isFields(value) ? Object.entries(value) : []
}
