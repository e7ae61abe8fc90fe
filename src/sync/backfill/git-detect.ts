import { posix } from 'node:path'
import {
  blobSizes,
  checkHead,
  type GitBlobs,
  type GitVersion,
  gitChanges,
  gitOutput,
  openBlobs,
  shallowRemarks,
} from '../../api/recordings/git-history.ts'
import { isUuid } from '../../api/schemas/form/limits.ts'
import { MAX_BODY_BYTES } from '../../api/schemas/recordings/body-limit.ts'
import { messageOf } from '../../base/errors.ts'
import { isWorklist, type Resource, type Worklist } from '../declare/resource.ts'
import type { Json } from '../normalize/hash.ts'
import { prepare } from '../normalize/prepare.ts'
import { contentOf, keyedIn, kindsIn, notSentIn, respondsIn, responseIn } from './git-bodies.ts'
import { type Found, type JsonFile, partsOfHistory } from './git-copies.ts'
import { globOf, namedPath, stemOf } from './git-globs.ts'
import { keyedGroups } from './git-keyed.ts'
import { areMostlyIn, extractBody, keysIn } from './git-parts.ts'
import { onlyRequest } from './recorded-requests.ts'

/** Files of a repository that look like responses of a resource. */
interface DetectedFiles {
  readonly glob: string
  /** Its name. */
  readonly resource: string
  readonly files: number
  /** Commits of the first-parent history that changed them. */
  readonly commits: number
  /** How many records they have together. */
  readonly records: number
  /** About how many records the resource has; null: any number. */
  readonly expected: number | null
  /** Whether they are to be loaded: false where other files have the same records, or all there are. */
  readonly mapped: boolean
}

interface Detected {
  readonly detected: readonly DetectedFiles[]
  /** Files beside those that have the same records in another form. */
  readonly leftOut: readonly { readonly path: string; readonly resource: string; readonly sameAs: string }[]
  /** How many JSON files were not looked at, because there are too many. */
  readonly notRead: number
  /** Files of which the latest versions are no JSON, each with what it is instead. */
  readonly unreadable: readonly { readonly path: string; readonly commit: string; readonly reason: string }[]
  /** Files that hold something else: made from responses, or of an earlier version of the API. */
  readonly notSent: readonly { readonly what: string; readonly paths: readonly string[] }[]
  /** What the repository has not. */
  readonly remarks: readonly string[]
}

/** How far the detection is. */
type DetectProgress = (what: 'commits' | 'files', done: number, of: number | null) => void

type Known = Resource | Worklist
type KeyedFile = Parameters<typeof keyedGroups>[0][number]

/** How many records of a file are looked at, and what share of them must be of the resource. */
const SAMPLE = { records: 20, share: 0.9 }
/** A folder with more files than this has one for each key, of which a few are read. */
const NAMED_FILES = 40
const SAMPLED_FILES = 12
/** What so many commits changed may be an archive. */
const KEPT_COMMITS = 5
/** How many versions of a file are looked at until one is JSON. */
const TRIED_VERSIONS = 4
/** What is read of a repository: the files that most commits changed. */
const MOST_READ = { files: 2000, bytes: 300_000_000 }

/**
 * Finds the JSON files that look like responses, by their content: those of the last commit, and those that were removed or renamed.
 * @throws FatalError when it is no repository, or git is missing
 */
export async function detectResponses(
  repository: string,
  resources: readonly Known[],
  onProgress: DetectProgress = () => undefined,
): Promise<Detected> {
  await checkHead(repository)
  const candidates: Known[] = []
  for (const resource of resources)
    if (resource.file?.respondsTo ?? (await onlyRequest(resource))) candidates.push(resource)
  const blobs = openBlobs(repository)
  try {
    const files = await filesOfHistory(repository, onProgress)
    const { chosen, notRead } = filesToRead(files)
    const singles: Found[] = []
    const keyed: KeyedFile[] = []
    const others: JsonFile[] = []
    const unreadable: Detected['unreadable'][number][] = []
    const notSent = new Map<string, string[]>()
    let done = 0
    for (const file of chosen) {
      const body = await latestBody(blobs, file)
      if (body === undefined && !file.isGone) unreadable.push(await unreadableFile(blobs, file))
      const found = await recognise(body, file, candidates)
      if (found.length === 0) others.push(file)
      const what = found.length === 0 ? whatElse(candidates, body, file) : undefined
      if (what !== undefined) notSent.set(what, [...(notSent.get(what) ?? []), file.path])
      for (const one of found) {
        if ('keys' in one) singles.push(one)
        else keyed.push({ ...one, file })
      }
      onProgress('files', ++done, chosen.length)
    }
    const lists = keyedGroups(keyed, [...others, ...singles], [...files.values()]).map(keyedFiles)
    const { detected, leftOut } = singleFiles(singles, { read: chosen, all: [...files.values()] })
    const all = [...lists, ...detected].sort((a, b) => (a.glob < b.glob ? -1 : 1))
    const more = { notSent: [...notSent].map(([what, paths]) => ({ what, paths })), remarks: await cutsOf(repository) }
    return { detected: all, leftOut, notRead, unreadable, ...more }
  } finally {
    blobs.close()
  }
}

const folderOf = ({ glob }: JsonFile) => posix.dirname(glob)

/** JSON files, perhaps packed, by their names. */
const isJson = (path: string) => stemOf(path) !== posix.basename(path)

/** The JSON files of the last commit below 64 MB, by path. */
async function jsonFiles(repository: string, folder?: string): Promise<Map<string, { blob: string; bytes: number }>> {
  const files = new Map<string, { blob: string; bytes: number }>()
  const list = ['ls-tree', '-r', '-z', '--long', 'HEAD', ...(folder === undefined ? [] : ['--', `${folder}/`])]
  for (const line of (await gitOutput(repository, list)).split('\0')) {
    const [, blob = '', size = '', path = ''] = /^100\d+ blob ([0-9a-f]+) +(\d+)\t(.*)$/s.exec(line) ?? []
    const bytes = Number(size)
    if (blob !== '' && isJson(path) && bytes <= MAX_BODY_BYTES) files.set(path, { blob, bytes })
  }
  return files
}

/** The JSON files below 64 MB that the commits have or had, by glob, in one walk over all commits. */
async function filesOfHistory(repository: string, onProgress: DetectProgress): Promise<Map<string, JsonFile>> {
  const [all = '0'] = (await gitOutput(repository, ['rev-list', '--count', '--first-parent', 'HEAD'])).split('\n')
  const found = new Map<string, { path: string; paths: Set<string> } & Pick<JsonFile, 'versions' | 'commits'>>()
  let nth = 0
  let last = ''
  for await (const { commit, path, blob } of gitChanges(repository)) {
    if (commit !== last) onProgress('commits', ++nth, Number(all))
    last = commit
    if (blob === null || !isJson(path)) continue
    const { glob } = namedPath(path)
    const file = found.get(glob) ?? { path, paths: new Set(), versions: [], commits: new Set() }
    found.set(glob, file)
    file.path = path
    file.commits.add(nth)
    file.paths.add(path)
    file.versions.unshift({ commit, blob })
    file.versions.length = Math.min(file.versions.length, TRIED_VERSIONS)
  }
  const now = await jsonFiles(repository)
  const isGone = ({ paths }: Pick<JsonFile, 'paths'>) => ![...paths].some((path) => now.has(path))
  const blobOf = ({ versions: [version] }: Pick<JsonFile, 'versions'>) => version?.blob ?? ''
  const sizes = await blobSizes(repository, [...found.values()].filter(({ path }) => !now.has(path)).map(blobOf))
  const files = [...found].flatMap(([series, file]): [string, JsonFile][] => {
    const glob = file.paths.size > 1 ? series : namedPath(file.path).own
    const bytes = now.get(file.path)?.bytes ?? sizes.get(blobOf(file)) ?? Number.POSITIVE_INFINITY
    return bytes > MAX_BODY_BYTES ? [] : [[glob, { ...file, glob, bytes, isGone: isGone(file) }]]
  })
  return new Map(files)
}

/** The parsed content of the latest version that is JSON: the last one may be an error page that was kept. */
async function latestBody(blobs: GitBlobs, { path, versions }: JsonFile): Promise<unknown> {
  for (const { blob } of versions) {
    const body = await contentOf(path, blobs.read(blob, MAX_BODY_BYTES))
    if (body !== undefined) return body
  }
  return undefined
}

async function unreadableFile(blobs: GitBlobs, { path, versions }: JsonFile): Promise<Detected['unreadable'][number]> {
  const [{ commit = '', blob = '' } = {}] = versions
  const reason = await blobs.read(blob, MAX_BODY_BYTES).then(whatInstead, messageOf)
  return { path, commit: commit.slice(0, 10), reason }
}

/** What a file holds that holds no response; undefined where it is not likely to be taken for one. */
function whatElse(candidates: readonly Known[], body: unknown, { commits }: JsonFile): string | undefined {
  const isKept = body !== undefined && commits.size >= KEPT_COMMITS
  return notSentIn(candidates, body) ?? (isKept ? 'JSON in no form that the API sends' : undefined)
}

/** What a file has that is no JSON. */
function whatInstead(content: Buffer | null): string {
  const text = content?.toString('utf8', 0, 200).trimStart() ?? ''
  if (content === null) return 'missing'
  if (text === '') return 'empty'
  return /^<(!doctype|html|\?xml)/i.test(text) ? 'a page of HTML' : 'not JSON, or JSON that ended early'
}

/** What a repository lacks beside its files. */
async function cutsOf(repository: string): Promise<string[]> {
  const entries = (await gitOutput(repository, ['ls-tree', '-r', '-z', 'HEAD'])).split('\0')
  const modules = entries.flatMap((entry) => /^160000 commit [0-9a-f]+\t(.*)$/s.exec(entry)?.[1] ?? [])
  return [
    ...(await shallowRemarks(repository)),
    ...modules.map((path) => `${path} is another repository (a submodule), which is not looked into`),
  ]
}

/** A few of each folder with a file for each key, all of the others; those first that most commits changed. */
function filesToRead(files: ReadonlyMap<string, JsonFile>): { chosen: JsonFile[]; notRead: number } {
  const folders = new Map<string, JsonFile[]>()
  for (const file of files.values()) {
    const folder = folders.get(folderOf(file))
    if (folder) folder.push(file)
    else folders.set(folderOf(file), [file])
  }
  const wanted = [...folders.values()].flatMap((folder) => {
    if (folder.length <= NAMED_FILES) return folder
    // Of the files that are not named by a uuid, each may be another thing.
    const others = folder.filter((file) => !isUuid(stemOf(file.path)))
    const alone = others.length <= NAMED_FILES ? others : spread(others, SAMPLED_FILES)
    const keyed = folder.filter((file) => isUuid(stemOf(file.path)))
    return [...alone, ...spread(keyed, SAMPLED_FILES)]
  })
  wanted.sort((a, b) => b.commits.size - a.commits.size || (a.path < b.path ? -1 : 1))
  const chosen: JsonFile[] = []
  let { files: room, bytes } = MOST_READ
  for (const file of wanted) {
    if (room === 0 || file.bytes > bytes) continue
    room -= 1
    bytes -= file.bytes
    chosen.push(file)
  }
  return { chosen, notRead: wanted.length - chosen.length }
}

/** Some elements of a list, from its first to its last. */
function spread<T>(list: readonly T[], count: number): T[] {
  if (list.length <= count) return [...list]
  return Array.from({ length: count }, (_, nth) => list[Math.round((nth * (list.length - 1)) / (count - 1))] as T)
}

interface Likely {
  readonly resource: Known
  readonly body: unknown
  /** Where it is in the file. */
  readonly fields: string
  /** How many responses are there. */
  readonly count: number
}

/** The first of the responses of a worklist in a file. */
function keyedResponse(resource: Worklist, content: unknown): Omit<Likely, 'resource'> | undefined {
  const all = keyedIn(resource, content)
  const [first] = all
  return first && { body: first.body, fields: all.length > 1 ? 'each' : first.names.join(), count: all.length }
}

/**
 * The resources that sent a body, or what is in it, by the fields that only each has; none where it may have been one of several.
 */
async function recognise(
  body: unknown,
  file: JsonFile,
  candidates: readonly Known[],
): Promise<(Found | Omit<KeyedFile, 'file'>)[]> {
  const { path } = file
  const sure: Found[] = []
  const likely: (Likely & { readonly known: number; readonly unknown: number })[] = []
  for (const resource of candidates) {
    if (resource.file?.respondsTo && !isWorklist(resource)) {
      const keys = new Set(respondsIn(resource, body, path).map(({ target }) => target))
      if (keys.size > 0) sure.push({ ...file, resource, keys, kinds: new Set(), known: 1, unknown: 0 })
      continue
    }
    const response = isWorklist(resource) ? keyedResponse(resource, body) : responseIn(resource, body)
    const isNamed = path.includes(resource.name)
    // Where the key is not in the body, and of the shortest records, the name of the file must say it.
    if (!response || (isWorklist(resource) && resource.keyOf(response.body) === undefined && !isNamed)) continue
    const fields = await fieldsIn(resource, response.body)
    // Without a form of its own, one field may stand in any file.
    const isTelling = fields !== undefined && (resource.file !== undefined || fields.known >= 2 || isNamed)
    if (isTelling && (fields.unknown === 0 || fields.known > 2 * fields.unknown))
      likely.push({ resource, count: 1, ...response, ...fields })
  }
  if (sure.length > 0) return sure
  const found: (Found | Omit<KeyedFile, 'file'>)[] = []
  for (const fields of new Set(likely.map((one) => one.fields))) {
    const same = likely.filter((one) => one.fields === fields)
    const named = same.filter(({ resource }) => path.includes(resource.name))
    const [one, other] = same.length > 1 && named.length > 0 ? named : same
    if (!one || other) continue
    const { resource, known, unknown } = one
    const keys = isWorklist(resource) ? undefined : await keysIn(resource, one.body)
    if (isWorklist(resource)) found.push({ resource, count: one.count })
    else if (keys) found.push({ ...file, resource, keys, kinds: kindsIn(resource, one.body), known, unknown })
  }
  return found
}

/** How many fields and samples a resource finds in a record of a body, and how many it does not know; undefined where it cannot be one of its responses. */
async function fieldsIn(resource: Known, body: unknown): Promise<{ known: number; unknown: number } | undefined> {
  const sums = { known: 0, unknown: 0 }
  try {
    const extraction = await extractBody(resource, body)
    const { entities, quarantined } = prepare(resource, spread(extraction.records, SAMPLE.records), extraction)
    if (entities.length === 0 || quarantined.length > SAMPLE.records * (1 - SAMPLE.share)) return undefined
    for (const { documentText, samples } of entities) {
      const document = JSON.parse(documentText) as Json
      const unknown = resource.unknownFields(document).length
      sums.unknown += unknown / entities.length
      sums.known +=
        (Object.keys(document ?? {}).length - unknown + Object.values(samples ?? {}).flat().length) / entities.length
    }
    return sums
  } catch {
    return undefined
  }
}

function keyedFiles({ glob, resource, files, count }: ReturnType<typeof keyedGroups>[number]): DetectedFiles {
  return {
    glob,
    resource: resource.name,
    files: countPaths(files),
    commits: countAll(files),
    records: count * files.length,
    expected: resource.backfill?.keys ?? null,
    mapped: true,
  }
}

function countPaths(files: readonly JsonFile[]): number {
  return files.reduce((sum, { paths }) => sum + paths.size, 0)
}

function countAll(files: readonly JsonFile[]): number {
  return new Set(files.flatMap(({ commits }) => [...commits])).size
}

interface Files {
  readonly read: readonly JsonFile[]
  readonly all: readonly JsonFile[]
}

/** The files of resources with one response: which make it together, and which have what others have. */
function singleFiles(singles: readonly Found[], files: Files): Pick<Detected, 'detected' | 'leftOut'> {
  const detected: DetectedFiles[] = []
  const leftOut: Detected['leftOut'][number][] = []
  for (const resource of new Set(singles.map((file) => file.resource))) {
    const ofResource = singles.filter((file) => file.resource === resource)
    const { sorted: found, mapped, copies } = partsOfHistory(resource, ofResource)
    for (const folder of new Set(found.map(folderOf))) {
      const isHere = (file: JsonFile) => folderOf(file) === folder
      const chosen = mapped.filter(isHere)
      if (chosen.length > 0) detected.push(detectedFiles(resource, chosen, files))
      for (const [copy, of] of copies) {
        if (!isHere(copy)) continue
        if (chosen.length > 0) leftOut.push({ path: copy.path, resource: resource.name, sameAs: of.path })
        else detected.push({ ...detectedFiles(resource, [copy], files), mapped: false })
      }
    }
  }
  return { detected, leftOut }
}

function countKeys(files: readonly Found[]): number {
  return new Set(files.flatMap(({ keys }) => [...keys])).size
}

function detectedFiles(resource: Resource, found: readonly Found[], { read, all }: Files): DetectedFiles {
  const [first] = found
  const here = (files: readonly JsonFile[]) => files.filter((file) => first && folderOf(file) === folderOf(first))
  // Of a folder of which a few files were read, those that were not are like them.
  const isSampled = here(read).length === found.length && here(all).length > found.length
  const files = isSampled ? here(all) : found
  return {
    glob: globOf(found, isSampled ? '*' : undefined),
    resource: resource.name,
    files: countPaths(files),
    commits: countAll(files),
    records: countKeys(found),
    expected: resource.file?.records ?? resource.backfill?.keys ?? null,
    mapped: true,
  }
}

/**
 * Why the files that are mapped to a resource are clearly a part of its response; undefined where they are not: they are an example of it,
 * lack most kinds of records, or another file of their folders has a kind, or most records, that they lack.
 */
export async function partOf(
  repository: string,
  blobs: GitBlobs,
  resource: Resource,
  { latest, paths: mapped }: { readonly latest: readonly GitVersion[]; readonly paths: readonly string[] },
): Promise<string | undefined> {
  const { file } = resource
  if (!file?.isRecord || latest.length === 0) return undefined
  const bodies: unknown[] = []
  for (const { path, blob } of latest) {
    const content = await contentOf(path, blobs.read(blob, MAX_BODY_BYTES))
    bodies.push(responseIn(resource, content)?.body ?? content)
  }
  const kinds = new Set(bodies.flatMap((body) => [...kindsIn(resource, body)]))
  const keys = (await Promise.all(bodies.map((body) => keysIn(resource, body)))).map((one) => one ?? new Set<string>())
  const paths = latest.map(({ path }) => path)
  const few = fewRecords(resource, paths, new Set(keys.flatMap((one) => [...one])).size)
  if (few !== undefined) return few
  for (const other of await filesBeside(repository, paths, mapped)) {
    const content = await contentOf(other.path, blobs.read(other.blob, MAX_BODY_BYTES))
    const { body } = responseIn(resource, content) ?? {}
    if (body === undefined) continue
    const found = (await keysIn(resource, body)) ?? new Set<string>()
    const isMore = file.kinds
      ? [...kindsIn(resource, body)].some((kind) => !kinds.has(kind))
      : 2 * Math.max(0, ...keys.map((one) => one.size)) < (file.records ?? 0)
    if (isMore && !areMostlyIn(found, keys)) return `${other.path} has records that ${paths.join(' and ')} have not`
  }
  const lacking = file.kinds?.members.filter((kind) => !kinds.has(kind)) ?? []
  const isCalled = paths.some((path) => stemOf(path).includes(resource.name))
  if (mapped.length > 1 || isCalled || 2 * lacking.length <= (file.kinds?.members.length ?? 0)) return undefined
  return `${paths.join(' and ')} has no ${lacking.join(', ')}`
}

/** What folders and files are called that are made up, or chosen, to show what a response looks like. */
const ofExamples = /(^|[/._-])(tests?|testdata|specs?|fixtures?|examples?|samples?|mocks?|stubs?)([/._-]|$)/i

/** Why so many records are an example of a response; undefined where they may be one. */
function fewRecords({ file }: Resource, paths: readonly string[], count: number): string | undefined {
  const { records = 0 } = file ?? {}
  if (2 * count >= records || !paths.every((path) => ofExamples.test(path))) return undefined
  return `${paths.join(' and ')} has ${count} of about ${records} records`
}

/** The other JSON files in the folders of some, but for those that are mapped; none of a folder with one for each key. */
async function filesBeside(
  repository: string,
  paths: readonly string[],
  mapped: readonly string[],
): Promise<{ readonly path: string; readonly blob: string }[]> {
  const beside: { path: string; blob: string }[] = []
  for (const folder of new Set(paths.map((path) => posix.dirname(path)))) {
    const files = [...(await jsonFiles(repository, folder === '.' ? undefined : folder))]
    const here = files
      .map(([path, { blob }]) => ({ path, blob }))
      .filter(({ path }) => posix.dirname(path) === folder && !mapped.includes(path))
    if (here.length <= NAMED_FILES) beside.push(...here)
  }
  return beside
}
