import { wireRequest } from '../../api/http/request.ts'
import {
  blobSizes,
  checkHead,
  countMerged,
  datesOfCommits,
  type GitBlobs,
  type GitDates,
  type GitVersion,
  openBlobs,
  shallowRemarks,
} from '../../api/recordings/git-history.ts'
import { versionMemory, versionParser, versionWriter } from '../../api/recordings/json-versions.ts'
import { BrokenRecording, type RecordingSource, type WrittenBody } from '../../api/recordings/recorded.ts'
import { isFields } from '../../api/schemas/form/unknown.ts'
import { MAX_BODY_BYTES } from '../../api/schemas/recordings/body-limit.ts'
import type { Recorded } from '../../api/schemas/recordings/recording-index.ts'
import { messageOf, UsageError } from '../../base/errors.ts'
import type { Database } from '../../db/database.ts'
import { earliest } from '../declare/ignored.ts'
import { isWorklist, type Resource, type Worklist } from '../declare/resource.ts'
import { accepted } from '../sql/history-sql.ts'
import { contentOf, isConverted, keysOfFile, respondsIn, responseIn, withOwnTimes } from './git-bodies.ts'
import { commitsOf } from './git-commits.ts'
import { partOf } from './git-detect.ts'
import { alternativesOf } from './git-globs.ts'
import { inOrder, joinParts, keysIn } from './git-parts.ts'
import { onlyRequest, sampleKey } from './recorded-requests.ts'

type GitCommit = Parameters<typeof joinParts>[1][number]
type JoinedResponse = Awaited<ReturnType<typeof joinParts>>['responses'][number]

/** Which files of a repository are responses of which resource. */
interface GitMapping {
  /** As in git's pathspecs: `*` does not match `/`, `**` does; and `{a,b}` as in a shell. */
  readonly glob: string
  readonly resource: Resource | Worklist
}

interface GitOptions {
  readonly dates?: GitDates
  /** Called while files are put together: how many versions are read, of how many. */
  readonly onProgress?: ((done: number, of: number) => void) | undefined
}

/** The mapped files at each commit, as the responses of their resources at its time. */
interface GitSource extends RecordingSource {
  /** Versions that are left out, and why. */
  readonly skipped: readonly string[]
  /** Versions that cannot be read. */
  readonly broken: readonly string[]
  /** How many responses are not after what the database knows. */
  readonly known: number
  /** How long the files of each response are, by the number of its line. */
  readonly bytes: readonly number[]
  close(): void
}

/**
 * Opens the history of a repository; bodies are read when they are wanted.
 * @param now ms since the epoch; a commit from later is left out, and hides none after it
 * @throws UsageError when a glob matches nothing, or a resource has several requests; FatalError without a repository or git
 */
export async function openGitSource(
  db: Database | undefined,
  repository: string,
  mappings: readonly GitMapping[],
  now: number,
  { dates = 'rising', onProgress }: GitOptions = {},
): Promise<GitSource> {
  await checkHead(repository)
  const blobs = openBlobs(repository)
  try {
    const dated = await datesOfCommits(repository, dates, { earliest, latest: now })
    const skipped = await cutsOf(repository, dated)
    const opened: Opened = { responses: [], lines: [], skipped, broken: [], known: 0 }
    for (const [resource, globs] of globsByResource(mappings)) {
      const commits = await commitsOf(repository, globs, dated.at)
      const knownUntil = db ? await knownInstants(db, resource) : new Map<string, number>()
      const history = { repository, blobs, onProgress, now, knownUntil }
      if (resource.file?.respondsTo && !isWorklist(resource)) await openRequests(opened, resource, commits, history)
      else await openResponses(opened, resource, commits, history)
    }
    const { responses, lines, broken, known } = opened
    const placeOf = ({ line }: Recorded) => placeText(responses[line]?.changed)
    const memories = new Map<Resource | Worklist, Memory>()
    let before: Promise<unknown> = Promise.resolve()
    return {
      lines: lines.sort((a, b) => a.at - b.at),
      skipped,
      broken,
      known,
      bytes: await bytesOf(repository, responses),
      placeOf,
      // In turn: of two at once, one would be read into the memory with which the other one is compared.
      read: (line) => {
        const body = before.then(() => bodyOf(responses[line.line], line, { blobs, memories, placeOf }))
        before = body.catch(() => undefined)
        return body
      },
      responseIn: (line, content) => {
        const { resource } = responses[line.line] ?? {}
        if (resource && isConverted(resource, content)) throw new BrokenRecording(`${placeOf(line)} ${OTHER_FORM}`)
        return withoutEnvelope(resource, content)
      },
      close: blobs.close,
    }
  } catch (error) {
    blobs.close()
    throw error
  }
}

const OTHER_FORM = 'has records in a form that the API does not send, or several states without a time of each'

/** What was found in a repository so far. */
interface Opened extends Pick<GitSource, 'skipped' | 'broken'> {
  readonly responses: GitResponse[]
  /** Of each response, by its number. */
  readonly lines: Recorded[]
  readonly skipped: string[]
  readonly broken: string[]
  known: number
}

/** The responses of a resource, what of it cannot be read, and what is to be said of them. */
interface Found {
  readonly responses: readonly (JoinedResponse & Partial<Pick<GitResponse, 'names' | 'share'>>)[]
  readonly unreadable: readonly GitVersion[]
  readonly remarks: readonly string[]
}

/** Adds the responses of a resource with one request for each. */
async function openResponses(
  opened: Opened,
  resource: Resource | Worklist,
  commits: readonly GitCommit[],
  history: History,
): Promise<void> {
  const { responses, lines, skipped, broken } = opened
  const lineOf = await requestOf(resource)
  const isKnown = ({ at }: GitVersion, key: string) => at <= (history.knownUntil.get(key) ?? 0)
  const found: Found = isWorklist(resource)
    ? { responses: eachAlone(commits), unreadable: [], remarks: [] }
    : await wholeResponses(resource, commits, history)
  // Not as arguments of one call: there may be any number of them.
  for (const remark of found.remarks) skipped.push(remark)
  for (const one of found.unreadable) if (!isKnown(one, '')) broken.push(unreadableText(resource, one))
  let latest = 0
  for (const response of found.responses) {
    const version = response.changed
    const why = outOfTime(version, latest, history.now)
    if (why !== undefined) {
      skipped.push(why)
      continue
    }
    latest = version.at
    const keys = isWorklist(resource)
      ? await keysOfFile(resource, version.path, () => history.blobs.read(version.blob, MAX_BODY_BYTES))
      : [{ key: '', isPart: response.isPart, names: response.names ?? [] }]
    if (keys.length === 0) broken.push(unreadableText(resource, version))
    for (const { key, isPart, names } of keys) {
      if (isKnown(version, key)) opened.known += 1
      else {
        const share = (response.share ?? 1) / keys.length
        const line = responses.push({ ...response, resource, names, share }) - 1
        lines.push(lineOf(key, { at: version.at, body: version.blob, line, isPart }))
      }
    }
  }
}

/** A response, and whose it is. */
interface GitResponse extends JoinedResponse {
  readonly resource: Resource | Worklist
  /** The names that lead to it in the file, where that is known. */
  readonly names: readonly string[]
  /** Its share of the file, of 1. */
  readonly share: number
}

function withoutEnvelope(resource: Resource | Worklist | undefined, content: unknown): unknown {
  return (resource && responseIn(resource, content)?.body) ?? content
}

/** What reads the versions of a file one after the other. Most of the next one is the same. */
interface FileReader {
  readonly memory: (length: number) => Buffer
  readonly parse: (bytes: Buffer) => unknown
}

/** What is kept of the files of a resource from one of its responses to the next: most of both is the same. */
interface Memory {
  /** By path: the parsed content, and what reads the next version of it. */
  readonly files: Map<string, FileReader & { blob: string; parsed: unknown }>
  readonly write: (document: object) => Buffer
  /** Of responses that are one file each. */
  readonly memory: (length: number) => Buffer
}

interface Reading {
  readonly blobs: GitBlobs
  readonly memories: Map<Resource | Worklist, Memory>
  readonly placeOf: (line: Recorded) => string
}

/** The bytes of a response: those of its file, or what its parts make together. They hold until the one after the next is read. */
async function bodyOf(
  response: GitResponse | undefined,
  line: Recorded,
  { blobs, memories, placeOf }: Reading,
): Promise<Buffer | WrittenBody> {
  const read = async (blob: string, memory?: (length: number) => Buffer) => {
    const bytes = await blobs.read(blob, MAX_BODY_BYTES, memory).catch((error: unknown) => {
      throw new BrokenRecording(`${placeOf(line)} cannot be read: ${messageOf(error)}`, { cause: error })
    })
    if (bytes === null) throw new BrokenRecording(`${placeOf(line)} is missing or larger than 64 MB`)
    return bytes
  }
  const { parts = [], resource, names = [] } = response ?? {}
  if (resource === undefined) return await read(line.body)
  const kept = memories.get(resource) ?? newMemory()
  memories.set(resource, kept)
  const { files, write } = kept
  // Of keys, and of a resource with several requests, many responses are in use at once.
  const isOneByOne = !isWorklist(resource) && !resource.file?.respondsTo
  if (parts.length < 2 && names.length === 0 && !/\.(jsonl|ndjson)(\.gz)?$/.test(parts[0]?.path ?? ''))
    return await read(parts[0]?.blob ?? line.body, isOneByOne ? kept.memory : undefined)
  for (const path of files.keys()) if (!parts.some((part) => part.path === path)) files.delete(path)
  const parsed: unknown[] = []
  for (const { path, blob } of parts) {
    const file = files.get(path) ?? { blob: '', parsed: undefined, parse: versionParser(), memory: versionMemory(1) }
    if (file.blob !== blob) {
      const bytes = await read(blob, file.memory)
      const content = await contentOf(path, bytes, file.parse)
      if (content === undefined) throw new BrokenRecording(`${placeOf(line)} is not JSON, or JSON that ended early`)
      if (names.length === 0 && isConverted(resource, content))
        throw new BrokenRecording(`${placeOf(line)} ${OTHER_FORM}`)
      Object.assign(file, { parsed: names.length > 0 ? content : withoutEnvelope(resource, content), blob })
    }
    files.set(path, file)
    parsed.push(file.parsed)
  }
  if (names.length > 0) {
    const body = names.reduce(
      (inner, name) => (isFields(inner) || Array.isArray(inner) ? Reflect.get(inner, name) : undefined),
      parsed[0],
    )
    return Buffer.from(JSON.stringify(body))
  }
  const joined = parsed.length === 1 ? (parsed[0] as object) : resource.file?.join?.(parsed)
  if (!joined) throw new BrokenRecording(`${placeOf(line)} makes no response with other files`)
  return { bytes: write(joined), parsed: joined }
}

const newMemory = (): Memory => ({ files: new Map(), write: versionWriter(), memory: versionMemory(2) })

/** How many bytes are read for each of some responses. */
async function bytesOf(repository: string, responses: readonly GitResponse[]): Promise<number[]> {
  const sizes = await blobSizes(repository, new Set(responses.flatMap(({ parts }) => parts.map(({ blob }) => blob))))
  const all = (parts: JoinedResponse['parts']) => parts.reduce((own, { blob }) => own + (sizes.get(blob) ?? 0), 0)
  return responses.map(({ parts, share }) => Math.round(share * all(parts)))
}

function globsByResource(mappings: readonly GitMapping[]): Map<Resource | Worklist, string[]> {
  const globs = new Map<Resource | Worklist, string[]>()
  for (const { glob, resource } of mappings)
    globs.set(resource, [...(globs.get(resource) ?? []), ...alternativesOf(glob)])
  return globs
}

function eachAlone(commits: readonly GitCommit[]): JoinedResponse[] {
  const versions = commits.flatMap((commit) => commit.versions)
  return versions.map((changed) => ({ changed, parts: [changed], isPart: false }))
}

interface History {
  readonly repository: string
  readonly blobs: GitBlobs
  readonly onProgress: GitOptions['onProgress']
  readonly now: number
  /** The instant of the newest accepted response that the database has; of a worklist by key. */
  readonly knownUntil: ReadonlyMap<string, number>
}

/** The responses of a resource whose responses each hold all of it, and what is to be said of them. */
async function wholeResponses(resource: Resource, commits: readonly GitCommit[], history: History): Promise<Found> {
  const paths = [...new Set(commits.flatMap(({ versions }) => versions.map(({ path }) => path)))]
  const timed = await withOwnTimes(resource, commits.flatMap(inOrder), history)
  const { responses, unreadable }: Omit<Found, 'remarks'> =
    timed ??
    (paths.length === 1
      ? { responses: eachAlone(commits), unreadable: [] }
      : await joinParts(resource, commits, keyReader(resource, commits, history)))
  const latest = responses.at(-1)?.parts ?? []
  const lacking = await partOf(history.repository, history.blobs, resource, { latest, paths })
  const alone = responses.filter(({ isPart }) => isPart).length
  const why = lacking ?? (alone > 0 ? `${alone} of ${responses.length} commits have not all of its files` : undefined)
  const said = why === undefined ? [] : [`${resource.name}: ${why}; nothing that is missing there ends`]
  const all = lacking === undefined ? responses : responses.map((one) => ({ ...one, isPart: true }))
  return { responses: all, unreadable, remarks: [...(timed?.remarks ?? []), ...said] }
}

/** So many bytes of the last versions of files are remembered, and at least those of one. */
const REMEMBERED_BYTES = 16_000_000

/** Reads the keys of versions, which are asked for in their order: git looks for the next one while one is parsed. */
function keyReader(resource: Resource, commits: readonly GitCommit[], { blobs, onProgress }: History) {
  const versions = commits.flatMap(inOrder)
  const files = new Map<string, FileReader & { bytes: number }>()
  const readerOf = (path: string) => {
    // The next version is read while the one before it is compared with that before.
    const reader = files.get(path) ?? { parse: versionParser(), memory: versionMemory(2), bytes: 0 }
    // Those that were read last are at the end.
    files.delete(path)
    files.set(path, reader)
    return reader
  }
  let remembered = 0
  const forget = () => {
    for (const [path, one] of files) {
      if (remembered <= REMEMBERED_BYTES || files.size === 1) return
      remembered -= one.bytes
      files.delete(path)
    }
  }
  let read = 0
  const begin = () => {
    const version = versions[read++]
    const reader = version && readerOf(version.path)
    const content = reader && blobs.read(version.blob, MAX_BODY_BYTES, reader.memory)
    // An error is thrown where it is awaited.
    content?.catch(() => undefined)
    return { path: version?.path ?? '', reader, content }
  }
  let next = begin()
  return async () => {
    const { path, reader, content } = next
    onProgress?.(read, versions.length)
    next = begin()
    const body = await contentOf(path, content, (bytes) => {
      if (!reader) return undefined
      remembered += bytes.length - reader.bytes
      reader.bytes = bytes.length
      return reader.parse(bytes)
    })
    forget()
    return isConverted(resource, body) ? undefined : await keysIn(resource, withoutEnvelope(resource, body))
  }
}

/**
 * Adds the responses of a resource that takes several requests. The first commit that is new brings the latest state of all requests:
 * a response needs each of them.
 */
async function openRequests(
  opened: Opened,
  resource: Resource,
  commits: readonly GitCommit[],
  { blobs, onProgress, now, knownUntil }: History,
): Promise<void> {
  const after = knownUntil.get('') ?? 0
  const before = new Map<string, GitResponse>()
  const versions = commits.flatMap((commit) => commit.versions)
  let latest = 0
  for (const [nth, changed] of versions.entries()) {
    onProgress?.(nth + 1, versions.length)
    const why = outOfTime(changed, latest, now)
    if (why !== undefined) {
      opened.skipped.push(why)
      continue
    }
    latest = changed.at
    const content = await contentOf(changed.path, blobs.read(changed.blob, MAX_BODY_BYTES))
    const found = respondsIn(resource, content, changed.path)
    const isKnown = changed.at <= after
    if (found.length === 0 && !isKnown) opened.broken.push(unreadableText(resource, changed))
    if (found.length > 0 && isKnown) opened.known += 1
    for (const { target, names } of found) {
      const response = { changed, parts: [changed], isPart: false, resource, names, share: 1 / found.length }
      if (isKnown) before.set(target, response)
      else {
        for (const [other, one] of before) add(other, { ...one, changed: { ...one.changed, at: changed.at } })
        before.clear()
        add(target, response)
      }
    }
  }

  function add(target: string, response: GitResponse): void {
    const { at, blob } = response.changed
    const line = opened.responses.push(response) - 1
    opened.lines.push({ at, body: blob, line, method: 'GET', path: target, query: '', status: 200, headers: {} })
  }
}

/** Why a version is left out; undefined for one that is not. */
function outOfTime(version: GitVersion, latest: number, now: number): string | undefined {
  const { at } = version
  const isOutside = at < earliest || at > now
  if (!isOutside && at >= latest) return undefined
  const why = isOutside ? `it is dated ${new Date(at).toISOString()}` : 'it is dated before the commit that it follows'
  return `${placeText(version)} is not loaded: ${why}`
}

function unreadableText({ name }: Resource | Worklist, version: GitVersion): string {
  return `${name}: ${placeText(version)} is no response that can be read`
}

/** What a repository has not, or has beside the first parents, and what of its dates is doubtful. */
async function cutsOf(
  repository: string,
  { differing, byAuthor }: Awaited<ReturnType<typeof datesOfCommits>>,
): Promise<string[]> {
  const merged = await countMerged(repository)
  const dated = `${differing} commits have another date of the author than of the committer, and ${byAuthor} of them are dated by the author; --dates author|committer decides for all`
  const leftOut = `commits of merged branches are left out, ${merged} of them: the merges have what came of them`
  return [differing > 0 ? dated : [], merged > 0 ? leftOut : [], await shallowRemarks(repository)].flat()
}

function placeText(version: GitVersion | undefined): string {
  return `${version?.path} of commit ${version?.commit.slice(0, 10)}`
}

/** Makes lines that name the request of a resource for a key. */
async function requestOf(resource: Resource | Worklist) {
  const request = await onlyRequest(resource)
  if (!request)
    throw new UsageError(`${resource.name} has several requests for one response, which a file of git cannot hold`)
  const { method, target } = wireRequest(request)
  const [path = '', query = ''] = target.split('?')
  return (key: string, line: Pick<Recorded, 'at' | 'body' | 'line' | 'isPart'>): Recorded => ({
    ...line,
    method,
    path: path.replace(sampleKey, encodeURIComponent(key)),
    query,
    status: 200,
    headers: {},
  })
}

/** The instant of the newest accepted response of a resource, of a worklist by key; ms since the epoch. */
async function knownInstants(db: Database, resource: Resource | Worklist): Promise<Map<string, number>> {
  const [table, key] = isWorklist(resource) ? ['sync.observation', 'key'] : ['sync.run', `''`]
  const rows = await db.query<{ key: string; at: Date }>(
    `select ${key} as key, max(observed_at) as at from ${table} where resource = $1 and ${accepted} group by 1`,
    [resource.name],
  )
  return new Map(rows.flatMap(({ key: one, at }) => (at ? [[one, at.getTime()] as const] : [])))
}
