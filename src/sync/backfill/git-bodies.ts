import { fieldsOf, isFields } from '../../api/schemas/form/unknown.ts'
import { parseJsonBytes } from '../../base/text/decode.ts'
import { isWorklist, type Resource, type Worklist } from '../declare/resource.ts'

/*
 * What of a file is a response: all of it, or fields of an envelope around it, such as
 * `{"updated": "2026-05-01", "data": {...}}` or `{"recipes": [...], "items": [...]}`.
 */

/** A larger map is no envelope, but has its records as fields. */
const MOST_FIELDS = 64
/** So many of them may be in each other. */
const MOST_ENVELOPES = 3
/** What fields are called that hold no state of the time, but what differs from another one. */
const notAState = /^(add|remov|delet|chang|modif|before|after|old|prev|diff|miss)/i

/** How many records of a body are looked at, and what share of them must be of the resource. */
const SAMPLE = { records: 20, share: 0.9 }

/** The parsed content of a file that is being read; undefined for what is no JSON, or larger than 64 MB. */
export async function contentOf(
  content: Promise<Buffer | null> | undefined,
  parse: (bytes: Buffer) => unknown = parseJsonBytes,
): Promise<unknown> {
  try {
    const bytes = (await content) ?? null
    return bytes === null ? undefined : parse(bytes)
  } catch {
    return undefined
  }
}

/**
 * The response of a resource in a file. Several fields of an envelope are joined, where the resource can.
 * @returns also the names of these fields, of none where the whole content is the response; undefined where there is none
 */
export function responseIn(
  resource: Resource | Worklist,
  content: unknown,
  depth = MOST_ENVELOPES,
): { readonly body: unknown; readonly fields: string } | undefined {
  if (looksLike(resource, content)) return { body: content, fields: '' }
  const envelope = depth > 0 ? envelopeOf(content) : []
  const found = envelope.flatMap(([name, value]) => {
    const inner = responseIn(resource, value, depth - 1)
    return inner ? [{ name, ...inner }] : []
  })
  const [first, ...others] = found
  if (!first || (isWorklist(resource) && others.length > 0)) return undefined
  const join = isWorklist(resource) || others.length === 0 ? undefined : resource.file?.join
  const fields = found.map(({ name, fields: inner }) => `${name}.${inner}`).join()
  return { body: join ? join(found.map(({ body }) => body)) : first.body, fields }
}

/** What a file responds to of a resource that takes several requests, and with which of its fields; of the whole file with none. */
export function respondsIn(
  resource: Resource,
  content: unknown,
  path: string,
  depth = MOST_ENVELOPES,
): readonly { readonly target: string; readonly names: readonly string[] }[] {
  const whole = (resource.file?.respondsTo?.(content, path) ?? []).map(({ target, field }) => ({
    target,
    names: field === undefined ? [] : [field],
  }))
  const envelope = depth > 0 ? envelopeOf(content) : []
  const inner = envelope.flatMap(([name, value]) =>
    respondsIn(resource, value, `${path}/${name}`, depth - 1).map(({ target, names }) => ({
      target,
      names: [name, ...names],
    })),
  )
  const count = (responses: typeof whole) => new Set(responses.map(({ target }) => target)).size
  return count(inner) > count(whole) ? inner : whole
}

function envelopeOf(content: unknown): [name: string, value: unknown][] {
  const fields = isFields(content) ? fieldsOf(content) : []
  if (fields.length > MOST_FIELDS) return []
  return fields.filter(([name, value]) => value instanceof Object && !notAState.test(name))
}

/** Whether a body has what only this resource has. */
function looksLike(resource: Resource | Worklist, body: unknown): boolean {
  if (resource.file?.isBody?.(body) === false) return false
  return !resource.file?.isRecord || shareFitting(resource, body) >= SAMPLE.share
}

/** Whether a file has records, most of them in a form that the API does not send, as where it was converted. */
export function isConverted(resource: Resource | Worklist, content: unknown): boolean {
  return shareFitting(resource, content) < 0.5 && !responseIn(resource, content)
}

/** What share of some records of a body has what only this resource has; NaN without records. */
function shareFitting({ file }: Resource | Worklist, body: unknown): number {
  const { isRecord = () => true } = file ?? {}
  const list = recordsOf(body)
  const names = Array.isArray(list) ? undefined : Object.keys(list)
  const count = names?.length ?? (list as unknown[]).length
  const step = Math.max(1, (count - 1) / (SAMPLE.records - 1))
  const sample = Array.from({ length: Math.min(count, SAMPLE.records) }, (_, nth) => Math.round(nth * step))
  const fitting = sample.filter((nth) =>
    isRecord(Reflect.get(list, names?.[nth] ?? nth), names?.[nth] ?? String(nth + 1)),
  )
  return fitting.length / sample.length
}

/** The records of a body as they came, as a list or by key. */
function recordsOf(body: unknown): unknown[] | object {
  const list = isFields(body) && 'results' in body ? body.results : body
  return Array.isArray(list) || isFields(list) ? list : []
}

/** The kinds of records in a body. */
export function kindsIn({ file }: Resource, body: unknown): Set<string> {
  const { field, members } = file?.kinds ?? { field: '', members: [] }
  const values = new Set(Object.values(recordsOf(body)).map((record) => (isFields(record) ? record[field] : undefined)))
  return new Set(members.filter((kind) => values.has(kind)))
}
