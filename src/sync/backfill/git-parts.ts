import { createClient } from '../../api/client.ts'
import { offline } from '../../api/http/transport.ts'
import type { GitVersion } from '../../api/recordings/git-history.ts'
import { toApiResponse } from '../../api/response.ts'
import { isFields } from '../../api/schemas/form/unknown.ts'
import { UsageError } from '../../base/errors.ts'
import { type Extraction, isWorklist, type Resource, type Worklist } from '../declare/resource.ts'
import { extractWith } from './recorded-requests.ts'

/** What a commit did to the files of a resource. */
interface GitCommit {
  readonly versions: readonly GitVersion[]
  /** Paths. */
  readonly removed: readonly string[]
}

/** A response that the files of a commit make together. */
interface JoinedResponse {
  /** What the commit changed of it. */
  readonly changed: GitVersion
  /** The latest version of each part; a later one counts more where two have the same record. */
  readonly parts: readonly GitVersion[]
  /** Whether a part is not there. */
  readonly isPart: boolean
}

/** A set of records that no other file has. Several files may have it: a copy, another form, the next of dated ones. */
interface Part {
  readonly paths: Set<string>
  /** The files of it that are there now; the one that was changed last counts. */
  readonly files: Map<string, GitVersion>
  /** Of the version that counts. */
  keys: ReadonlySet<string>
  changedAt: number
  /** The commits, by number, between which a response lacks something without it. */
  readonly from: number
  until: number
  /** Whether most of what the version before had is nowhere now: that version may be right. */
  isShrunken: boolean
}

type Draft = Omit<JoinedResponse, 'isPart'> & { readonly nth: number; readonly present: readonly Part[] }

/** More files with different records than this are no parts of one response. */
const mostParts = 64

/** After every instant that a body may hold, ms since the epoch. */
const LATEST_INSTANT = 4_102_444_800_000

/** Extracts a body that came from nowhere. @throws what a resource throws for what it cannot read */
export async function extractBody(resource: Resource | Worklist, body: unknown): Promise<Extraction> {
  const outcome = {
    status: 200,
    headers: new Map(),
    body,
    failure: null,
    reason: '',
    bytes: 0,
    receivedAt: LATEST_INSTANT,
  }
  const api = createClient({ transport: offline(async () => toApiResponse(outcome, 1)) })
  return await extractWith(resource, api, isWorklist(resource) ? resource.keyOf(body) : undefined)
}

/** The keys of the records of a body; undefined where it is no response, such as an error that was kept. */
export async function keysIn(resource: Resource, body: unknown): Promise<Set<string> | undefined> {
  try {
    const { records } = await extractBody(resource, body)
    const readable = records.filter((record) => !resource.bodyOf || isFields(resource.bodyOf(record)))
    const keys = new Set(readable.flatMap((record) => resource.keyOf(record) ?? []))
    return keys.size > 0 || records.length === 0 ? keys : undefined
  } catch {
    return undefined
  }
}

/** Whether half of the keys or more are in one of the others. */
export function areMostlyIn(keys: ReadonlySet<string>, others: readonly ReadonlySet<string>[]): boolean {
  return 2 * countIn(keys, others) >= keys.size
}

/** Whether two files have the same records but for a few. */
export function haveSameKeys(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const [small, large] = one.size < other.size ? [one, other] : [other, one]
  return 2 * small.size >= large.size && 2 * countIn(small, [large]) >= large.size
}

/** Whether two of the parts have the same record. */
function shareKeys(parts: readonly Part[]): boolean {
  const all = new Set<string>()
  for (const { keys } of parts) for (const key of keys) all.add(key)
  return all.size < parts.reduce((sum, { keys }) => sum + keys.size, 0)
}

function countIn(keys: ReadonlySet<string>, others: readonly ReadonlySet<string>[]): number {
  let count = 0
  for (const key of keys) if (others.some((other) => other.has(key))) count++
  return count
}

/**
 * Puts the files of a resource together: at each commit the latest version of each part. A part that is not there yet, or
 * was removed, is missing, unless its records were in another part before, or are in another one since.
 * @param keysOf of a version; undefined where it cannot be read: the version before it counts
 * @returns also what cannot be read
 * @throws UsageError when the resource makes no response of several parts
 */
export async function joinParts(
  resource: Resource,
  commits: readonly GitCommit[],
  keysOf: (version: GitVersion) => Promise<ReadonlySet<string> | undefined>,
): Promise<{ readonly responses: readonly JoinedResponse[]; readonly unreadable: readonly GitVersion[] }> {
  const parts: Part[] = []
  const drafts: Draft[] = []
  const unreadable: GitVersion[] = []
  let isOther = false
  let isShared = false
  for (const [nth, commit] of commits.entries()) {
    const former = new Map(parts.filter(isThere).map((part) => [part, part.keys]))
    let changed: GitVersion | undefined
    for (const version of inOrder(commit)) {
      const keys = await keysOf(version)
      if (!keys) unreadable.push(version)
      else {
        place(version, keys, [...former.values()], nth)
        changed = version
      }
    }
    for (const part of parts) for (const path of commit.removed) part.files.delete(path)
    endMoved(former, nth)
    const present = parts.filter(isThere)
    if (isOther) isShared = shareKeys(present)
    isOther = false
    // Otherwise in the same order as before: what follows compares each record with the one at its place.
    if (isShared) present.sort((a, b) => a.changedAt - b.changedAt)
    const files = present.flatMap(({ files: all }) => [...all.values()].at(-1) ?? [])
    if (changed) drafts.push({ changed, parts: files, nth, present: present.filter((part) => !part.isShrunken) })
  }
  const isMissing = (part: Part, { nth, present }: Draft) =>
    part.from <= nth && nth < part.until && !present.includes(part)
  const responses = drafts.map((draft) => ({ ...draft, isPart: parts.some((part) => isMissing(part, draft)) }))
  return { responses, unreadable }

  /** Makes a version the one that counts of its part. */
  function place(version: GitVersion, keys: ReadonlySet<string>, former: ReadonlySet<string>[], nth: number): void {
    const { path } = version
    let part = parts.find(({ paths }) => paths.has(path)) ?? parts.find((one) => haveSameKeys(one.keys, keys))
    if (!part) {
      // What another file had until now was not missing.
      const from = areMostlyIn(keys, former) && former.length > 0 ? nth : 0
      part = { paths: new Set(), files: new Map(), keys, changedAt: nth, from, until: Infinity, isShrunken: false }
      parts.push(part)
      refuse(parts, resource, path)
    }
    if (!isThere(part) || countIn(keys, [part.keys]) < keys.size) isOther = true
    part.paths.add(path)
    part.files.delete(path)
    part.files.set(path, version)
    Object.assign(part, { keys, changedAt: nth })
  }

  /** Ends parts whose records are in others since this commit, and marks those that lost most of theirs. */
  function endMoved(former: ReadonlyMap<Part, ReadonlySet<string>>, nth: number): void {
    const now = parts.filter(isThere).map(({ keys }) => keys)
    for (const [part, keys] of former) {
      if (!isThere(part) && areMostlyIn(keys, now)) part.until = nth
      if (part.changedAt === nth) part.isShrunken = keys.size > 0 && !areMostlyIn(keys, now)
    }
  }
}

function isThere({ files }: Part): boolean {
  return files.size > 0
}

/** The versions of a commit in the order in which they are read: a later one counts more. */
export function inOrder({ versions }: GitCommit): readonly GitVersion[] {
  return [...versions].sort(byPreference)
}

/** Of files that a commit changed, the one with the shortest name counts (`gear.json` and not `gear_expanded.json`), or the last by name. */
function byPreference({ path: a }: GitVersion, { path: b }: GitVersion): number {
  return b.length - a.length || (a < b ? -1 : 1)
}

/** @throws UsageError */
function refuse(parts: readonly Part[], { name, file }: Resource, path: string): void {
  const [first] = parts[0]?.paths ?? []
  if (parts.length > 1 && !file?.join)
    throw new UsageError(
      `${name}: ${first} and ${path} have other records, and make no response together; map one of them`,
    )
  if (parts.length > mostParts)
    throw new UsageError(
      `${name}: more than ${mostParts} files have other records, such as ${path}; one response is not kept in so many`,
    )
}
