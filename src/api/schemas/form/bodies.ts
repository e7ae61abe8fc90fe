import { parseJsonText, withoutMark } from '../../../base/text/decode.ts'
import { readListing } from '../../read-listing.ts'
import { fieldsOf } from './unknown.ts'

/** What the API sends where it may be an object or a list. */
export type Body = Readonly<Record<string, unknown>> | readonly unknown[]

/**
 * The records of a body that is a list, or was an object keyed by name in an earlier release: the name is then put into
 * the field `nameField` of its record, unless it is null.
 */
export function recordsOf(body: unknown, nameField: string | null): unknown[] {
  return readListing(body, nameField).records
}

/** What a text says as JSON; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return parseJsonText(withoutMark(text))
  } catch {
    return undefined
  }
}

/** A map that comes as `[]` when it is empty. */
export function mapOf(body: unknown): Record<string, unknown> {
  return Object.fromEntries(fieldsOf(body))
}
