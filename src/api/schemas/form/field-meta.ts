import * as z from 'zod'
import type { restrictionVocabulary } from '../people/restrictions.ts'

/* Nearly every field may be missing or null. */
export const text = z.string().nullish()
export const number = z.number().nullish()
export const flag = z.boolean().nullish()
export const names = z.array(z.string()).nullish()

/** What a schema says of a field besides its type. */
interface FieldMeta {
  /** The names known today; any other text is accepted too. */
  readonly known?: readonly string[]
  /** The privacy rule that hides the field (API reference 7.3). */
  readonly hiddenBy?: PrivacyRule
  /** Single records may lack it, and keep lacking it. */
  readonly isSometimes?: boolean
}

type PrivacyRule = (typeof restrictionVocabulary)[number]

const fieldMeta = z.registry<FieldMeta>()

/** One of the names known today, or any other text: an unknown member is kept, not refused. */
export type Known<Name extends string> = Name | (string & Record<never, never>)

/** One of some, or any of several. */
export type AnyOf<Name extends string> = Known<Name> | readonly Known<Name>[]

/** Text that is usually one of `names`; any text passes. */
export function known<const Names extends readonly string[]>(names: Names): z.ZodType<Known<Names[number]>> {
  return z.string().register(fieldMeta, { known: names })
}

/** A field that a privacy rule hides. */
export function hiddenBy<Schema extends z.ZodType>(rule: PrivacyRule, schema: Schema): Schema {
  const field = schema.clone()
  fieldMeta.add(field, { hiddenBy: rule })
  return field
}

/** A field that the API sends of some records only: of one that had it and lacks it nothing else follows. */
export function sometimes<Schema extends z.ZodType>(schema: Schema): Schema {
  const field = schema.clone()
  fieldMeta.add(field, { isSometimes: true })
  return field
}

/** Why a record may lack a field: a privacy rule hides it, or the API sends it of some records only; undefined where most records have it. */
export function absenceOf(schema: z.core.$ZodType): 'hidden' | 'sometimes' | undefined {
  const meta = fieldMeta.get(schema as z.ZodType)
  return meta?.isSometimes ? 'sometimes' : meta?.hiddenBy && 'hidden'
}

/** The names of the fields that each privacy rule hides. */
export function fieldsByRule({ shape }: z.ZodObject): Readonly<Record<string, readonly string[]>> {
  const rules: Record<string, string[]> = {}
  for (const [name, schema] of Object.entries(shape)) {
    const rule = fieldMeta.get(schema)?.hiddenBy
    if (rule !== undefined) rules[rule] = [...(rules[rule] ?? []), name]
  }
  return rules
}

/** The known names of every field at any depth, by JSON pointer; `*` stands for every element and every key of a map. */
export function vocabularyOf(schema: z.core.$ZodType, pointer = ''): Readonly<Record<string, readonly string[]>> {
  const names = fieldMeta.get(schema)?.known
  if (names) return { [pointer]: names }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return vocabularyOf(schema.unwrap(), pointer)
  if (schema instanceof z.ZodArray) return vocabularyOf(schema.element, `${pointer}/*`)
  if (schema instanceof z.ZodRecord) return vocabularyOf(schema.valueType, `${pointer}/*`)
  if (schema instanceof z.ZodUnion)
    return Object.assign({}, ...schema.options.map((option) => vocabularyOf(option, pointer)))
  if (schema instanceof z.ZodObject)
    return Object.assign(
      {},
      ...Object.entries(schema.shape).map(([name, field]) => vocabularyOf(field, `${pointer}/${name}`)),
    )
  return {}
}
