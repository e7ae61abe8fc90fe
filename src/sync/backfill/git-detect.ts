import { posix } from 'node:path'
import { createClient } from '../../api/client.ts'
import { type GitBlobs, gitOutput, openBlobs } from '../../api/recordings/git-history.ts'
import { offline } from '../../api/recordings/recorded.ts'
import { toApiResponse } from '../../api/response.ts'
import { MAX_BODY_BYTES } from '../../api/schemas/recordings/body-limit.ts'
import { parseJsonBytes } from '../../app/text/decode.ts'
import type { Json } from '../normalize/hash.ts'
import { prepare } from '../normalize/prepare.ts'
import { isWorklist, type Resource, type Worklist } from '../resource.ts'
import { extractWith, onlyRequest } from './recorded-requests.ts'

/** Files of a repository that look like responses of a resource. */
export interface DetectedFiles {
  readonly glob: string
  /** Its name. The same files may be given twice, where two resources have the same form. */
  readonly resource: string
  readonly files: number
  /** Commits of the first-parent history that changed them. */
  readonly commits: number
}

type Known = Resource | Worklist

/** After every instant that a body may hold, ms since the epoch. */
const LATER = 4_102_444_800_000
/** How many files of a folder are read, and how many records of a file. */
const SAMPLE = { files: 3, records: 20 }
/** A folder with more files than this has one for each key. */
const MOST_NAMED = 40

/**
 * Finds the JSON files of the last commit that look like responses, by their content.
 * @throws FatalError when it is no repository, or git is missing
 */
export async function detectResponses(repository: string, resources: readonly Known[]): Promise<DetectedFiles[]> {
  const candidates: Known[] = []
  for (const resource of resources) if (await onlyRequest(resource)) candidates.push(resource)
  const blobs = openBlobs(repository)
  try {
    const detected: DetectedFiles[] = []
    for (const [folder, files] of await jsonFiles(repository)) {
      const found = new Map<string, { resource: string; files: number }>()
      const isKeyed = files.length > MOST_NAMED
      for (const { path, blob } of files.slice(0, isKeyed ? SAMPLE.files : MOST_NAMED))
        for (const resource of await resourcesLike(await contentOf(blobs, blob), path, candidates)) {
          const glob = isWorklist(resource) ? posix.join(literal(folder), '*.json') : literal(path)
          const { files: before = 0 } = found.get(`${glob} ${resource.name}`) ?? {}
          const all = isKeyed && isWorklist(resource) ? files.length : before + 1
          found.set(`${glob} ${resource.name}`, { resource: resource.name, files: all })
        }
      for (const [name, { resource, files: count }] of found) {
        const glob = name.slice(0, -resource.length - 1)
        detected.push({ glob, resource, files: count, commits: await countCommits(repository, glob) })
      }
    }
    return detected.sort((a, b) => (a.glob < b.glob ? -1 : 1))
  } finally {
    blobs.close()
  }
}

/** A path as a glob that matches it alone. */
function literal(path: string): string {
  return path.replace(/[*?[\]\\]/g, String.raw`\$&`)
}

/** Files below 64 MB by their folder. */
async function jsonFiles(repository: string): Promise<Map<string, { path: string; blob: string }[]>> {
  const folders = new Map<string, { path: string; blob: string }[]>()
  for (const line of (await gitOutput(repository, ['ls-tree', '-r', '-z', '--long', 'HEAD'])).split('\0')) {
    const [, blob = '', size = '', path = ''] = /^100\d+ blob ([0-9a-f]+) +(\d+)\t(.*\.json)$/.exec(line) ?? []
    if (blob === '' || Number(size) > MAX_BODY_BYTES) continue
    const folder = posix.dirname(path)
    folders.set(folder, [...(folders.get(folder) ?? []), { path, blob }])
  }
  return folders
}

async function contentOf(blobs: GitBlobs, blob: string): Promise<unknown> {
  try {
    const bytes = await blobs.read(blob, MAX_BODY_BYTES)
    return bytes === null ? undefined : parseJsonBytes(bytes)
  } catch {
    return undefined
  }
}

/** Of the resources that may have sent a body, the one that its path names, else the one that knows most of it; several where they have the same form. */
async function resourcesLike(body: unknown, path: string, candidates: readonly Known[]): Promise<Known[]> {
  const ranked: { resource: Known; known: number; unknown: number }[] = []
  for (const resource of candidates) {
    const { known, unknown } = await fieldsOf(resource, body)
    // One field alone may stand in any file, and where the key is not in the body an empty one will do.
    const isTelling = known >= 2 && (!isWorklist(resource) || resource.keyOf(body) !== undefined)
    if (known > 2 * unknown && (isTelling || path.includes(resource.name))) ranked.push({ resource, known, unknown })
  }
  const named = ranked.filter(({ resource }) => path.includes(resource.name))
  const likely = named.length > 0 ? named : ranked
  const least = Math.min(...likely.map(({ unknown }) => unknown))
  const best = likely.filter(({ unknown }) => unknown === least)
  const most = Math.max(...best.map(({ known }) => known))
  return best.filter(({ known }) => known === most).map(({ resource }) => resource)
}

/** How many fields and samples a resource finds in a record of a body, and how many it does not know; none where it cannot be one of its responses. */
async function fieldsOf(resource: Known, body: unknown): Promise<{ known: number; unknown: number }> {
  const outcome = { status: 200, headers: new Map(), body, failure: null, reason: '', bytes: 0, receivedAt: LATER }
  const api = createClient({ transport: offline(async () => toApiResponse(outcome, 1)) })
  const sums = { known: 0, unknown: 0 }
  try {
    const extraction = await extractWith(resource, api, isWorklist(resource) ? resource.keyOf(body) : undefined)
    const { entities, quarantined } = prepare(resource, extraction.records.slice(0, SAMPLE.records), extraction)
    if (quarantined.length > 0) return sums
    for (const { documentText, samples } of entities) {
      const document = JSON.parse(documentText) as Json
      const unknown = resource.unknownFields(document).length
      sums.unknown += unknown / entities.length
      sums.known +=
        (Object.keys(document ?? {}).length - unknown + Object.values(samples ?? {}).flat().length) / entities.length
    }
    return sums
  } catch {
    return { known: 0, unknown: 0 }
  }
}

async function countCommits(repository: string, glob: string): Promise<number> {
  const count = ['rev-list', '--count', '--first-parent', 'HEAD', '--', `:(glob)${glob}`]
  return Number(await gitOutput(repository, count))
}
