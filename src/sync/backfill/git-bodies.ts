import type { GitBlobs, GitVersion } from '../../api/recordings/git-history.ts'
import { isUuid, uuidText } from '../../api/schemas/form/limits.ts'
import { fieldsOf, isFields } from '../../api/schemas/form/unknown.ts'
import { MAX_BODY_BYTES } from '../../api/schemas/recordings/body-limit.ts'
import { parseJsonBytes, parseJsonText, withoutMark } from '../../base/text/decode.ts'
import { isWorklist, type Resource, type Worklist } from '../declare/resource.ts'
import { namedPath, stemOf } from './git-globs.ts'

/*
 * What of a file is a response: all of it, or fields of an envelope around it, such as
 * `{"updated": "2026-05-01", "data": {...}}` or `{"recipes": [...], "items": [...]}`.
 */

/** A larger map is no envelope, but has its records as fields. */
const ENVELOPE_FIELDS = 64
/** So many of them may be in each other. */
const NESTED_ENVELOPES = 3
/** What fields are called that hold no state of the time, but what differs from another one. */
const notAState = /^(add|remov|delet|chang|modif|before|after|old|prev|diff|miss)/i

/** By what each of its responses had around what was requested. */
const earlierVersion = (version: number) => `a response of version ${version} of the API`
const hasAll = (value: unknown, ...fields: readonly string[]) =>
  isFields(value) && fields.every((field) => Object.hasOwn(value, field))

/** How many records of a body are looked at, and what share of them must be of the resource. */
const SAMPLE = { records: 20, share: 0.9 }

/** What parses a file in which each line is JSON of its own, as a list of all lines; undefined for any other. */
function linesParser(path: string): ((bytes: Buffer) => unknown[]) | undefined {
  if (!/\.(jsonl|ndjson)(\.gz)?$/.test(path)) return undefined
  return (bytes) => {
    const lines = withoutMark(bytes.toString('utf8')).split('\n')
    return lines.filter((line) => line.trim() !== '').map(parseJsonText)
  }
}

/** The parsed content of a file that is read, or being read; undefined for what is no JSON, or larger than 64 MB. */
export async function contentOf(
  path: string,
  content: Promise<Buffer | null> | Buffer | undefined,
  parse: (bytes: Buffer) => unknown = parseJsonBytes,
): Promise<unknown> {
  try {
    const bytes = (await content) ?? null
    return bytes === null ? undefined : (linesParser(path) ?? parse)(bytes)
  } catch {
    return undefined
  }
}

/**
 * The response of a resource in a file. Several fields of an envelope are joined, where the resource can; of a list of responses, each with a
 * time, the last one counts.
 * @returns also the names of these fields, of none where the whole content is the response; undefined where there is none
 */
export function responseIn(
  resource: Resource | Worklist,
  content: unknown,
  depth = NESTED_ENVELOPES,
): { readonly body: unknown; readonly fields: string } | undefined {
  if (looksLike(resource, content)) return { body: content, fields: '' }
  const last = isWorklist(resource) || depth === 0 ? undefined : snapshotsIn(resource, content, depth).at(-1)
  if (last) return { body: last.body, fields: 'each' }
  const envelope = depth > 0 ? envelopeOf(content) : []
  const found = envelope.flatMap(([name, value]) => {
    const inner = responseIn(resource, value, depth - 1)
    return inner ? [{ name, ...inner }] : []
  })
  const [first, ...others] = found
  if (!first) return undefined
  const fields = found.map(({ name, fields: inner }) => `${name}.${inner}`).join()
  if (others.length === 0) return { body: first.body, fields }
  const bodies = found.map(({ body }) => body)
  const join = isWorklist(resource) || areStates(resource, bodies) ? undefined : resource.file?.join
  return join && { body: join(bodies), fields }
}

/** Whether bodies have mostly the same records, some of them changed: they are of different times then, and not parts of one response. */
function areStates(resource: Resource, bodies: readonly unknown[]): boolean {
  const seen = new Map<string, unknown>()
  return bodies.some((body) => {
    const list = recordsOf(body)
    const keyed = Object.entries(list).map(([name, record]): [string | undefined, unknown] => [
      Array.isArray(list) ? resource.keyOf(record) : name,
      record,
    ])
    const records = keyed.filter((one): one is [string, unknown] => one[0] !== undefined)
    const both = records.filter(([key]) => seen.has(key))
    for (const [key, record] of records) if (!seen.has(key)) seen.set(key, record)
    const isChanged = ([key, record]: [string, unknown]) => JSON.stringify(seen.get(key)) !== JSON.stringify(record)
    return 2 * both.length > records.length && both.some(isChanged)
  })
}

/** What a file responds to of a resource that takes several requests, and with which of its fields; of the whole file with none. */
export function respondsIn(
  resource: Resource,
  content: unknown,
  path: string,
  depth = NESTED_ENVELOPES,
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

/** What a field is called that says of when the others are. */
const ofTime =
  /^(time|timestamp|date|date_?time|at|ts|last_?updated?|(fetched|observed|recorded|captured|taken|updated|created)(_?(at|on))?)$/i

/** A response among others, each with a time of its own. */
interface Snapshot {
  /** Ms since the epoch. */
  readonly at: number
  /** What leads to it in the file. */
  readonly names: readonly string[]
  readonly body: unknown
  /** How many may be responses there, with a time or without. */
  readonly among: number
}

/**
 * The responses of a list or map of them, each with a time of its own, oldest first: `[{"time": "2026-05-01T12:00:00Z", "data": {...}}, ...]`,
 * `{"2026-05-01T12:00:00Z": {...}, ...}`, perhaps in an envelope; none in any other file.
 */
function snapshotsIn(resource: Resource, content: unknown, depth = NESTED_ENVELOPES): readonly Snapshot[] {
  if (!(content instanceof Object) || !resource.file?.isRecord || looksLike(resource, content)) return []
  const entries = Object.entries(content)
  const among = entries.filter(([, value]) => value instanceof Object).length
  const found = entries.flatMap(([name, value]): Snapshot[] => {
    const timed = timedIn(Array.isArray(content) ? undefined : name, value)
    const response = timed && responseIn(resource, timed.value, depth - 1)
    return response ? [{ at: timed.at, names: [name, ...timed.names], body: response.body, among }] : []
  })
  if (2 * found.length > entries.length) return found.sort((a, b) => a.at - b.at)
  const inner = (depth > 0 ? envelopeOf(content) : []).flatMap(([name, value]) => {
    const all = snapshotsIn(resource, value, depth - 1)
    return all.length > 0 ? [all.map((one) => ({ ...one, names: [name, ...one.names] }))] : []
  })
  return inner.length === 1 ? (inner[0] ?? []) : []
}

/** What has a time in its name, beside it in a pair, or in a field; and which names lead to what is of that time. */
function timedIn(name: string | undefined, value: unknown) {
  const at = name === undefined ? undefined : instantIn(name)
  if (at !== undefined) return { at, names: [], value }
  const [pair, ...others] = Array.isArray(value) || !isFields(value) ? [] : Object.entries(value)
  const [said, of] = Array.isArray(value) && value.length === 2 ? [value[0], '1'] : [pair?.[0], pair?.[0] ?? '']
  const beside = others.length === 0 && said !== undefined ? instantIn(said) : undefined
  if (beside !== undefined) return { at: beside, names: [of], value: Reflect.get(Object(value), of) as unknown }
  const own = timeIn(value)
  return own === undefined ? undefined : { at: own, names: [], value }
}

/**
 * The responses of files that are lists of them, each with a time of its own: of all versions, each once, from the last version that has it.
 * Undefined where the last file is another one.
 */
export async function withOwnTimes(
  resource: Resource,
  versions: readonly GitVersion[],
  {
    blobs,
    onProgress,
  }: { readonly blobs: GitBlobs; readonly onProgress?: ((done: number, of: number) => void) | undefined },
) {
  const read = async ({ path, blob }: GitVersion) =>
    snapshotsIn(resource, await contentOf(path, blobs.read(blob, MAX_BODY_BYTES)))
  const last = versions.at(-1)
  const latest = last ? await read(last) : []
  if (!last || !latest[0]) return undefined
  const untimed = latest[0].among - latest.length
  const remarks =
    untimed > 0
      ? [`${last.path}: ${untimed} of ${latest[0].among} entries have no time of their own, and are left out`]
      : []
  const responses = new Map<number, ReturnType<typeof elementOf>>()
  const unreadable: GitVersion[] = []
  for (const [nth, version] of versions.entries()) {
    onProgress?.(nth + 1, versions.length)
    const all = await read(version)
    if (all.length === 0) unreadable.push(version)
    for (const one of all) {
      // The day of the commit was not over.
      const isDay = new Date(one.at).toISOString().includes(`${END_OF_DAY}.000`)
      const at = isDay ? Math.min(one.at, version.at) : one.at
      responses.set(at, elementOf(version, { ...one, at }, all.length))
    }
  }
  return { responses: [...responses.values()].sort((a, b) => a.changed.at - b.changed.at), unreadable, remarks }
}

/** A response that is one of so many elements of a file. */
function elementOf(version: GitVersion, { at, names }: Snapshot, count: number) {
  return { changed: { ...version, at }, parts: [version], isPart: false, names, share: 1 / count }
}

/** An instant as the name of a field. */
const instantIn = (name: unknown) => instantOf(/^\d{10,13}$/.test(String(name)) ? Number(name) : name)

/** Ms since the epoch. */
function timeIn(value: unknown): number | undefined {
  for (const [name, said] of isFields(value) ? fieldsOf(value) : []) {
    const at = ofTime.test(name) ? instantOf(said) : undefined
    if (at !== undefined) return at
  }
  return undefined
}

/** A day counts at its last second: earlier, it could be before what it shows. */
const END_OF_DAY = '23:59:59'

/** An instant as a text or as a number of seconds or ms; without an offset it is in UTC. */
function instantOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value >= 1e12 ? value : value >= 1e9 ? 1000 * value : undefined
  const [, day, time = END_OF_DAY, offset = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d)?)?$/i.exec(String(value)) ?? []
  const at = Date.parse(`${day}T${time}${offset}`)
  return Number.isNaN(at) ? undefined : at
}

function envelopeOf(content: unknown): [name: string, value: unknown][] {
  const fields = isFields(content) ? fieldsOf(content) : []
  if (fields.length > ENVELOPE_FIELDS) return []
  return fields.filter(([name, value]) => value instanceof Object && !notAState.test(name))
}

/** Whether a body has what only this resource has. */
function looksLike(resource: Resource | Worklist, body: unknown): boolean {
  if (resource.file?.isBody?.(body) === false) return false
  return !resource.file?.isRecord || shareFitting(resource, body) >= SAMPLE.share
}

/**
 * Whether a file has records, most of them in a form that the API does not send, as where it was converted; of a worklist, whether it has
 * several responses.
 */
export function isConverted(resource: Resource | Worklist, content: unknown): boolean {
  if (isWorklist(resource)) return keyedIn(resource, content).length > 1
  return shareFitting(resource, content) < 0.5 && !responseIn(resource, content)
}

/**
 * What a file has that was made from responses, or that earlier versions of the API sent: of all of it, of its records, or of what is in an
 * envelope around them; undefined for anything else.
 */
export function notSentIn(
  resources: readonly (Resource | Worklist)[],
  content: unknown,
  depth = NESTED_ENVELOPES,
): string | undefined {
  if (hasAll(content, 'kind', 'code', 'timestamp', 'version', 'data')) return earlierVersion(2)
  if (isFields(content) && hasAll(content.request, 'timestamp', 'version')) return earlierVersion(1)
  for (const { file } of resources)
    for (const { is, what } of file?.notSent ?? [])
      if (is(content, '') || shareOf(is, content) >= SAMPLE.share) return what
  const envelope = depth > 0 ? envelopeOf(content) : []
  return envelope.map(([, value]) => notSentIn(resources, value, depth - 1)).find((what) => what !== undefined)
}

/** What share of some records of a body has what only this resource has; NaN without records. */
function shareFitting({ file }: Resource | Worklist, body: unknown): number {
  return shareOf(file?.isRecord ?? (() => true), body)
}

function shareOf(isRecord: (record: unknown, key: string) => boolean, body: unknown): number {
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
  if (!file?.kinds) return new Set()
  const { of, members } = file.kinds
  const values = new Set(Object.values(recordsOf(body)).map(of))
  return new Set(members.filter((kind) => values.has(kind)))
}

/** The responses of a worklist in a file, each with the names that lead to it: the whole file, or one for each key in a map or list. */
export function keyedIn(
  resource: Worklist,
  content: unknown,
  depth = NESTED_ENVELOPES,
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
 * is only the beginning of a list: how many places were asked for is not in it. None for what is no response.
 */
export async function keysOfFile(
  resource: Worklist,
  path: string,
  read: () => Promise<Buffer | null>,
): Promise<readonly { readonly key: string; readonly isPart: boolean; readonly names: readonly string[] }[]> {
  const { keyOf, listLimit } = resource
  const name = nameIn(path)
  const isShort = (body: unknown) => listLimit !== undefined && Object.keys(Object(body)).length < listLimit.usual
  if (isUuid(name) && !linesParser(path)) return [{ key: uuidText(name), isPart: false, names: [] }]
  const parsed = await contentOf(path, read())
  const found = keyedIn(resource, parsed)
  if (found.length === 0) {
    // Where the API sends the key with each body, JSON without one is an error, an index or of another form. What is no JSON is named when it is read.
    const isOther = parsed !== undefined && resource.file?.isBody !== undefined && keyOf(parsed) === undefined
    return isOther ? [] : [{ key: keyOf(parsed) ?? name, isPart: isShort(parsed), names: [] }]
  }
  const keys = found.map(({ names, body }) => {
    const key = keyOf(body) ?? (found.length > 1 ? names.at(-1) : undefined) ?? name
    return { key, isPart: isShort(body), names }
  })
  // Several states of one key, of different times: none of them is of the commit.
  const isOnce = new Set(keys.map(({ key }) => key)).size === keys.length
  return isOnce ? keys : [{ key: name, isPart: false, names: [] }]
}

/** What a file is called without a date: itself, or where nothing is left, the folder that it is in. */
function nameIn(path: string): string {
  const [file = '', ...folders] = namedPath(path).rest.split('/').reverse()
  const plain = stemOf(file)
    .replace(/\.[a-z]+$/, '')
    .replace(/\?.*$/, '')
  return [plain, ...folders].map((name) => name.replace(/^[-_. ]+|[-_. ]+$/g, '')).find((name) => name !== '') ?? ''
}
