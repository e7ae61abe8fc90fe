import { hash as digest } from 'node:crypto'
import { storable } from '../../api/schemas/form/limits.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined }

/** JSON text with object keys sorted at every depth, so that equal facts give equal text whatever order the API chose. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const fields = value as { readonly [key: string]: Json | undefined }
  let text = ''
  for (const key of Object.keys(fields).sort()) {
    const field = fields[key]
    if (field !== undefined) text += (text && ',') + nameText(key) + canonicalJson(field)
  }
  return `{${text}}`
}

const nameTexts = new Map<string, string>()

/** A field's name as JSON writes it. Few names come again and again: escaping each once takes a third off the whole. */
function nameText(name: string): string {
  const known = nameTexts.get(name)
  if (known !== undefined) return known
  const text = `${JSON.stringify(name)}:`
  if (nameTexts.size < 10_000) nameTexts.set(name, text)
  return text
}

/** SHA-256 of a text, as 32 bytes. */
export function sha256(text: string | Uint8Array): Buffer {
  return digest('sha256', text, 'buffer')
}

/** Content hash of a whole response, of what `base64` makes of its entities, sorted: independent of the order they came in. */
export function hashOfLines(sorted: readonly string[]): Buffer {
  return sha256(sorted.join('\n'))
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

/** In characters: the longest JSON pointer that is stored in an index next to a key. */
const longestPath = 250

/** A JSON pointer or a name that fits into an index: what is longer ends in its hash. */
export function indexable(path: string): string {
  const text = storable(path)
  if (text.length <= longestPath) return text
  return `${storable(text.slice(0, 200))}...${sha256(text).toString('hex').slice(0, 16)}`
}
