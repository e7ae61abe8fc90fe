import * as z from 'zod'
import type { Refusal } from '../http/answer.ts'

/** From `low` to `high`, both included. */
export interface Range {
  readonly low: number
  readonly high: number
}

/** Text, or nothing. */
export const text = z.string({ error: 'text' }).nullish()

/** A list of text, or nothing; one text is a list of one. */
export const texts = z
  .union([z.array(z.string()), z.string().transform((one) => [one])], { error: 'text or a list of text' })
  .nullish()

/** A range, or nothing; a number is the range from itself to itself. */
export const range = z
  .union(
    [
      z.number().transform((one): Range => ({ low: one, high: one })),
      z
        .tuple([z.number(), z.number()])
        .refine(([low, high]) => low <= high)
        .transform(([low, high]): Range => ({ low, high })),
    ],
    { error: 'a number or a range [from, to]' },
  )
  .nullish()

/**
 * Reads a JSON body into the fields of a filter; unknown fields are not looked at.
 * @returns the fields; a MalformedPayload when it is no JSON object, an InvalidFormError when a field has another type
 * than the API takes (API reference 2.5)
 */
export function readForm<Fields extends object>(
  schema: z.ZodType<Fields>,
  body: string | undefined,
): { readonly fields: Fields } | Refusal {
  const value = parsed(body)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { status: 400, error: 'MalformedPayload', detail: 'Send a JSON object.' }
  const result = schema.safeParse(value)
  if (result.success) return { fields: result.data }
  const [issue] = result.error.issues
  return { status: 400, error: 'InvalidFormError', detail: `${String(issue?.path[0])} must be ${issue?.message}.` }
}

function parsed(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? '')
  } catch {
    return undefined
  }
}
