import { z } from 'zod'

/** A field that the schema of its record does not name. */
export interface UnknownField {
  /** JSON pointer with `*` for every element of an array and every key of a map: the same for all records. */
  readonly path: string
  /** Where it stands in this record. */
  readonly place: readonly (string | number)[]
  readonly value: unknown
}

type Finder = (value: unknown, path: string, place: readonly (string | number)[], found: UnknownField[]) => void

const nothing: Finder = () => {}

/**
 * Makes the function that lists the fields of a record that its schema does not name, at any depth. Loose schemas keep
 * such fields; this tells them apart from the known ones.
 */
export function unknownFields(schema: z.ZodType): (record: unknown) => UnknownField[] {
  const find = finder(schema)
  return (record) => {
    const found: UnknownField[] = []
    find(record, '', [], found)
    return found
  }
}

function finder(schema: z.core.$ZodType): Finder {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return finder(schema.unwrap())
  if (schema instanceof z.ZodObject) return objectFinder(schema.shape)
  if (schema instanceof z.ZodArray) return arrayFinder(finder(schema.element))
  if (schema instanceof z.ZodRecord) return mapFinder(finder(schema.valueType))
  if (schema instanceof z.ZodUnion) {
    const finders = schema.options.map((option) => finder(option)).filter((one) => one !== nothing)
    return finders.length === 0 ? nothing : (...given) => finders.forEach((find) => void find(...given))
  }
  return nothing
}

function objectFinder(shape: Readonly<Record<string, z.core.$ZodType>>): Finder {
  const known = new Map(Object.entries(shape).map(([name, field]) => [name, finder(field)]))
  return (value, path, place, found) => {
    for (const [name, field] of fieldsOf(value)) {
      const find = known.get(name)
      const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (!find) found.push({ path: at, place: [...place, name], value: field })
      else if (find !== nothing) find(field, at, [...place, name], found)
    }
  }
}

function mapFinder(find: Finder): Finder {
  if (find === nothing) return nothing
  return (value, path, place, found) => {
    for (const [name, field] of fieldsOf(value)) find(field, `${path}/*`, [...place, name], found)
  }
}

function arrayFinder(find: Finder): Finder {
  if (find === nothing) return nothing
  return (value, path, place, found) => {
    if (!Array.isArray(value)) return
    for (const [index, element] of value.entries()) find(element, `${path}/*`, [...place, index], found)
  }
}

/** The fields of an object; none of anything else, arrays included. */
export function fieldsOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
}
