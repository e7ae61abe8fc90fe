import type { UnknownField } from '../../api/schemas/form/unknown.ts'
import type { Json } from './hash.ts'

/** Something about what the API sends that the program does not know, or does not know like this. */
export interface Novelty {
  readonly kind:
    | 'unknown_field'
    | 'unknown_member'
    | 'missing_field'
    | 'retyped_field'
    | 'returned_field'
    | 'volatile_field'
  /** JSON pointer; `*` stands for any element of an array and any key of a map. */
  readonly path: string
  /** The unknown member; of a retyped field its type; else empty. */
  readonly member: string
  readonly example: Json
}

/** The enum members of a document that its vocabulary does not list. */
export function unknownMembers(document: Json, vocabulary: Readonly<Record<string, readonly string[]>>): Novelty[] {
  return Object.entries(vocabulary).flatMap(([path, known]) =>
    textsAt(document, path.split('/').slice(1))
      .filter((member) => !known.includes(member))
      .map((member) => ({ kind: 'unknown_member' as const, path, member, example: member })),
  )
}

function textsAt(value: Json | undefined, steps: readonly string[]): string[] {
  const [step, ...rest] = steps
  if (step === undefined) return typeof value === 'string' ? [value] : []
  if (value === null || typeof value !== 'object') return []
  if (Array.isArray(value)) return step === '*' ? value.flatMap((one: Json) => textsAt(one, rest)) : []
  const fields = value as { readonly [key: string]: Json | undefined }
  return step === '*' ? Object.values(fields).flatMap((one) => textsAt(one, rest)) : textsAt(fields[step], rest)
}

/**
 * The part of a document that has no column, in the document's own shape: what the `extra` column keeps, or null when
 * everything is known, which is the rule. Elements of an array are named by their number.
 */
export function extraOf(fields: readonly UnknownField[]): Json {
  if (fields.length === 0) return null
  const extra = withoutPrototype()
  for (const { place, value } of fields) {
    let at = extra
    for (const step of place.slice(0, -1)) at = at[step] = (at[step] ?? withoutPrototype()) as Record<string, unknown>
    const last = place.at(-1)
    if (last !== undefined) at[last] = value
  }
  return extra as Json
}

/** An object in which `__proto__` is a name like any other: the names in it come from outside. */
function withoutPrototype(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}
