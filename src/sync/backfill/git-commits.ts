import { type GitVersion, gitChanges, gitOutput } from '../../api/recordings/git-history.ts'
import { UsageError } from '../../base/errors.ts'
import { namedPath } from './git-globs.ts'
import type { joinParts } from './git-parts.ts'

type GitCommit = Parameters<typeof joinParts>[1][number]

/** A commit that is so much later than the date in the name of a file does not say when that was written, ms: a day, and any time zone. */
const LATEST_COMMIT_MS = 38 * 3_600_000

/** A file with more versions than this was not only written in another form. */
const REWRITTEN_VERSIONS = 3

/**
 * What the commits did to the files that the globs name, oldest first. Files with a date in their names that were committed together, or long
 * after that date, are of that date: they count as commits of their own.
 * @throws UsageError for a glob without a file
 */
export async function commitsOf(
  repository: string,
  globs: readonly string[],
  dates: ReadonlyMap<string, number>,
): Promise<GitCommit[]> {
  const commits = new Map<string, { versions: GitVersion[]; removed: string[] }>()
  for await (const { commit, path, blob } of gitChanges(repository, globs)) {
    const one = commits.get(commit) ?? { versions: [], removed: [] }
    commits.set(commit, one)
    if (blob === null) one.removed.push(path)
    else one.versions.push({ commit, at: dates.get(commit) ?? 0, path, blob })
  }
  for (const glob of globs)
    if (commits.size === 0 || (globs.length > 1 && !(await hasVersions(repository, glob))))
      throw new UsageError(`no commit of ${repository} has a file that matches ${glob}`)
  const isDated = datedFiles([...commits.values()].flatMap(({ versions }) => versions))
  const named: GitCommit[] = []
  const all = [...commits.values()].map(({ versions, removed }): GitCommit => {
    const moved = ofTheirNames(versions.filter(isDated))
    for (const at of new Set([...moved.values()]))
      named.push({
        versions: [...moved].flatMap(([version, own]) => (own === at ? { ...version, at } : [])),
        removed: [],
      })
    return { versions: versions.filter((version) => !moved.has(version)), removed }
  })
  if (named.length === 0) return all
  let last = 0
  const instants = new Map(
    all.map((commit) => {
      last = commit.versions[0]?.at ?? last
      return [commit, last]
    }),
  )
  const instantOf = (commit: GitCommit) => instants.get(commit) ?? commit.versions[0]?.at ?? 0
  return [...all, ...named].sort((a, b) => instantOf(a) - instantOf(b))
}

/** Whether a commit that the first parents lead through has a file that a glob names. */
async function hasVersions(repository: string, glob: string): Promise<boolean> {
  const walk = ['rev-list', '--max-count=1', '--first-parent', '--full-history', 'HEAD', '--', `:(glob)${glob}`]
  return (await gitOutput(repository, walk)) !== ''
}

/** Says which versions are of files that are called after several times. One that goes on to change is of no single time. */
function datedFiles(versions: readonly GitVersion[]): (version: GitVersion) => boolean {
  const times = new Set<number | undefined>()
  const counts = new Map<string, number>()
  for (const { path } of versions) {
    const { time } = namedPath(path)
    if (time) times.add(time.from)
    counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  return ({ path }) => times.size > 1 && (counts.get(path) ?? 0) <= REWRITTEN_VERSIONS
}

/** The versions of a commit that are of another time than it is, by the names of their files. */
function ofTheirNames(versions: readonly GitVersion[]): Map<GitVersion, number> {
  const found = versions.flatMap((version) => {
    const { glob, time } = namedPath(version.path)
    // Who names files after a later time does so in a time zone of their own.
    return time && time.from <= version.at ? [{ version, glob, time }] : []
  })
  const counts = new Map<string, number>()
  for (const { glob } of found) counts.set(glob, (counts.get(glob) ?? 0) + 1)
  return new Map(
    found.flatMap(({ version, glob, time }) => {
      const isOf = (counts.get(glob) ?? 0) > 1 || version.at > time.until + LATEST_COMMIT_MS
      return isOf ? [[version, Math.min(time.until, version.at)] as const] : []
    }),
  )
}
