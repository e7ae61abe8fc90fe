import type { Refusal } from '../http/answer.ts'

/** One field of a filter that could not be read; caught where the filter is. */
class FormError extends Error {}

/** The fields of a JSON body. A field that is null counts as absent; unknown fields are not looked at. */
export interface Form {
  /** Text, or undefined. */
  text(name: string): string | undefined
  /** A list of text; one text is a list of one. */
  texts(name: string): readonly string[] | undefined
  /** A range: a number is the range from itself to itself. */
  range(name: string): Range | undefined
}

/** From `low` to `high`, both included. */
export interface Range {
  readonly low: number
  readonly high: number
}

/**
 * Reads a JSON body into a filter.
 * @returns what `read` makes of it; a MalformedPayload when it is no JSON object, an InvalidFormError when a field has
 * another type than the API takes (API reference 2.5)
 */
export function readForm<Filter>(body: string | undefined, read: (form: Form) => Filter): Filter | Refusal {
  const fields = parsed(body)
  if (!fields) return { status: 400, error: 'MalformedPayload', detail: 'Send a JSON object.' }
  const wrong = (name: string, expected: string) => new FormError(`${name} must be ${expected}.`)
  const form: Form = {
    text: (name) => {
      const value = fields[name] ?? undefined
      if (value === undefined || typeof value === 'string') return value
      throw wrong(name, 'text')
    },
    texts: (name) => {
      const value = fields[name] ?? undefined
      if (value === undefined) return undefined
      const list: unknown[] = Array.isArray(value) ? value : [value]
      return list.map((one) => {
        if (typeof one === 'string') return one
        throw wrong(name, 'text or a list of text')
      })
    },
    range: (name) => {
      const value = fields[name] ?? undefined
      if (value === undefined) return undefined
      const [low, high = low, ...more]: unknown[] = Array.isArray(value) && value.length === 2 ? value : [value]
      if (typeof low !== 'number' || typeof high !== 'number' || more.length > 0 || low > high)
        throw wrong(name, 'a number or a range [from, to]')
      return { low, high }
    },
  }
  try {
    return read(form)
  } catch (failure) {
    if (failure instanceof FormError) return { status: 400, error: 'InvalidFormError', detail: failure.message }
    throw failure
  }
}

function parsed(body: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body ?? '')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
