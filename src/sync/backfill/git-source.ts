import { wireRequest } from '../../api/http/request.ts'
import {
  type CommitDates,
  countMerged,
  datesOfCommits,
  type GitBlobs,
  type GitDates,
  type GitVersion,
  isShallow,
  listVersions,
  openBlobs,
} from '../../api/recordings/git-history.ts'
import { BrokenRecording, type RecordingSource } from '../../api/recordings/recorded.ts'
import { isUuid } from '../../api/schemas/form/limits.ts'
import { MAX_BODY_BYTES } from '../../api/schemas/recordings/body-limit.ts'
import type { Recorded } from '../../api/schemas/recordings/recording-index.ts'
import { UsageError } from '../../app/errors.ts'
import { parseJsonBytes } from '../../app/text/decode.ts'
import type { Database } from '../../db/database.ts'
import { accepted } from '../record/accepted.ts'
import { isWorklist, type Resource, type Worklist } from '../resource.ts'
import { earliest } from '../validate/clock-guard.ts'
import { onlyRequest, sampleKey } from './recorded-requests.ts'

/** Which files of a repository are responses of which resource. */
export interface GitMapping {
  /** As in git's pathspecs: `*` does not match `/`, `**` does. */
  readonly glob: string
  readonly resource: Resource | Worklist
}

/** The versions of the mapped files, each as the response of its resource at the time of its commit. */
export interface GitSource extends RecordingSource {
  /** Versions that are left out, and why. */
  readonly skipped: readonly string[]
  /** How many versions are not after what the database knows. */
  readonly known: number
  close(): void
}

/**
 * Opens the history of a repository; bodies are read when they are wanted.
 * @param now ms since the epoch; a commit from later is left out, and hides none after it
 * @throws UsageError when a glob matches nothing, or a resource has several requests; FatalError without a repository or git
 */
export async function openGitSource(
  db: Database,
  repository: string,
  mappings: readonly GitMapping[],
  now: number,
  dates: GitDates = 'rising',
): Promise<GitSource> {
  const blobs = openBlobs(repository)
  try {
    const dated = await datesOfCommits(repository, dates, { earliest, latest: now })
    const skipped = await cutsOf(repository, dated)
    const versions: GitVersion[] = []
    const lines: Recorded[] = []
    let known = 0
    for (const { glob, resource } of mappings) {
      const lineOf = await requestOf(resource)
      const knownUntil = await knownInstants(db, resource)
      let latest = 0
      const found = await listVersions(repository, glob, dated.at)
      if (found.length === 0) throw new UsageError(`no commit of ${repository} has a file that matches ${glob}`)
      for (const version of found) {
        if (version.at < earliest || version.at > now) {
          skipped.push(`${placeText(version)} is not loaded: it is dated ${new Date(version.at).toISOString()}`)
          continue
        }
        if (version.at < latest) {
          skipped.push(`${placeText(version)} is not loaded: it is dated before the commit that it follows`)
          continue
        }
        latest = version.at
        const key = isWorklist(resource) ? await keyOf(resource, version, blobs) : ''
        if (version.at <= (knownUntil.get(key) ?? 0)) known += 1
        else lines.push(lineOf(key, { at: version.at, body: version.blob, line: versions.push(version) - 1 }))
      }
    }
    const placeOf = ({ line }: Recorded) => placeText(versions[line])
    return {
      lines: lines.sort((a, b) => a.at - b.at),
      skipped,
      known,
      placeOf,
      async read(line) {
        const body = await blobs.read(line.body, MAX_BODY_BYTES)
        if (body === null) throw new BrokenRecording(`${placeOf(line)} is missing or larger than 64 MB`)
        return body
      },
      close: blobs.close,
    }
  } catch (error) {
    blobs.close()
    throw error
  }
}

/** What a repository has not, or has beside the first parents, and what of its dates is doubtful. */
async function cutsOf(repository: string, { differing, byAuthor }: CommitDates): Promise<string[]> {
  const merged = await countMerged(repository)
  return [
    ...(differing > 0
      ? [
          `${differing} commits have another date of the author than of the committer, and ${byAuthor} of them are dated by the author; --dates author|committer decides for all`,
        ]
      : []),
    ...(merged > 0
      ? [`commits of merged branches are left out, ${merged} of them: the merges have what came of them`]
      : []),
    ...((await isShallow(repository)) ? ['the clone is shallow: what was before its first commit is missing'] : []),
  ]
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
  return (key: string, line: Pick<Recorded, 'at' | 'body' | 'line'>): Recorded => ({
    ...line,
    method,
    path: path.replace(sampleKey, encodeURIComponent(key)),
    query,
    status: 200,
    headers: {},
  })
}

/** The key of a file: its name where that is a uuid, or what its content says, or its name. */
async function keyOf(resource: Worklist, { path, blob }: GitVersion, blobs: GitBlobs): Promise<string> {
  const name = path.replace(/^.*\//, '').replace(/\.[a-z]+$/, '')
  if (isUuid(name)) return name.toLowerCase()
  const body = await blobs.read(blob, MAX_BODY_BYTES)
  try {
    return (body === null ? undefined : resource.keyOf(parseJsonBytes(body))) ?? name
  } catch {
    return name
  }
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
