import { isStorable } from '../../api/schemas/form/limits.ts'
import { sha256 } from './hash.ts'

/** In characters: the longest JSON pointer that is stored in an index next to a key. */
const longestPath = 250

/** The text with a replacement character for whatever Postgres refuses. */
export function storable(text: string): string {
  return isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** A JSON pointer or a name that fits into an index: what is longer ends in its hash. */
export function indexable(path: string): string {
  const text = storable(path)
  if (text.length <= longestPath) return text
  return `${storable(text.slice(0, 200))}...${sha256(text).toString('hex').slice(0, 16)}`
}
