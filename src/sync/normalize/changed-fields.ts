import { canonicalJson, type Json } from './hash.ts'
import { modelNumber } from './values.ts'

/** One difference between two versions of an entity, as `analytics.item_change` shows it. */
export interface Change {
  /** JSON pointer (RFC 6901) into the API's own shape; empty for an entity that appeared or disappeared. */
  readonly path: string
  /** Undefined: the field was not there. */
  readonly before: Json | undefined
  /** Undefined: the field is gone. */
  readonly after: Json | undefined
}

type JsonObject = { readonly [key: string]: Json | undefined }

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** One step of a JSON pointer, escaped as RFC 6901 says. */
export function pointerStep(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/**
 * What differs between two documents, sorted by path. Objects are entered; an array, or a value that is an object on
 * one side only, is one change as a whole.
 */
export function changesBetween(before: Json | undefined, after: Json | undefined, path = ''): Change[] {
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)])
    // Older versions have model numbers that later ones have not.
    keys.delete(modelNumber)
    return [...keys].sort().flatMap((key) => changesBetween(own(before, key), own(after, key), path + pointerStep(key)))
  }
  return same(before, after) ? [] : [{ path, before, after }]
}

/** A field, and not what every object inherits: names come from outside, such as `__proto__`. */
function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return canonicalJson(a) === canonicalJson(b)
}
