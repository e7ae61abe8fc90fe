import { isUuid, uuidText } from '../../api/schemas/form/limits.ts'
import { fieldsOf, isFields } from '../../api/schemas/form/unknown.ts'
import { parseJsonBytes } from '../../base/text/decode.ts'
import { isWorklist, type Resource, type Worklist } from '../declare/resource.ts'
import { namedPath, stemOf } from './git-globs.ts'

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

/** The responses of a worklist in a file, each with the names that lead to it: the whole file, or one for each key in a map or list. */
export function keyedIn(
  resource: Worklist,
  content: unknown,
  depth = MOST_ENVELOPES,
): readonly { readonly names: readonly string[]; readonly body: unknown }[] {
  if (looksLike(resource, content)) return [{ names: [], body: content }]
  const inner = depth > 0 && content instanceof Object ? Object.entries(content) : []
  const entries = inner.filter(([name, value]) => value instanceof Object && !notAState.test(name))
  const isOne = ([, value]: [string, unknown]) => keyedIn(resource, value, depth - 1).length > 0
  const sample = entries.filter((_, nth) => nth % Math.ceil(entries.length / SAMPLE.records) === 0)
  if (sample.filter(isOne).length < SAMPLE.share * Math.max(1, sample.length)) return []
  return entries.flatMap(([name, value]) =>
    keyedIn(resource, value, depth - 1).map(({ names, body }) => ({ names: [name, ...names], body })),
  )
}

/**
 * The keys of a file of a worklist: what its content says, or its name, which may be the end of a URL, or the name of a field. And whether it
 * is only the beginning of a list: how many places were asked for is not in it.
 */
export async function keysOfFile(
  resource: Worklist,
  path: string,
  read: () => Promise<Buffer | null>,
): Promise<readonly { readonly key: string; readonly isPart: boolean; readonly names: readonly string[] }[]> {
  const { keyOf, listLimit } = resource
  const name = nameIn(path)
  const isShort = (body: unknown) => listLimit !== undefined && Object.keys(Object(body)).length < listLimit.usual
  if (isUuid(name)) return [{ key: uuidText(name), isPart: false, names: [] }]
  const parsed = await contentOf(read())
  const found = keyedIn(resource, parsed)
  if (found.length === 0) return [{ key: keyOf(parsed) ?? name, isPart: isShort(parsed), names: [] }]
  return found.map(({ names, body }) => {
    const key = keyOf(body) ?? (found.length > 1 ? names.at(-1) : undefined) ?? name
    return { key, isPart: isShort(body), names }
  })
}

/** What a file is called without a date: itself, or where nothing is left, the folder that it is in. */
function nameIn(path: string): string {
  const [file = '', ...folders] = namedPath(path).rest.split('/').reverse()
  const plain = stemOf(file)
    .replace(/\.[a-z]+$/, '')
    .replace(/\?.*$/, '')
  return [plain, ...folders].map((name) => name.replace(/^[-_. ]+|[-_. ]+$/g, '')).find((name) => name !== '') ?? ''
}
