import { execFileSync } from 'node:child_process'
import { temporaryFolder } from './postgres.ts'

/** One commit of a made-up repository. */
export interface Commit {
  /** Ms since the epoch; whole seconds count. */
  readonly at: number
  /** When its author wrote it, where that is another time; ms since the epoch. */
  readonly written?: number
  /** Contents by path; null removes a file. */
  readonly files: Readonly<Record<string, string | Buffer | null>>
  /** Default `main`. A new one begins at the end of `main`. */
  readonly branch?: string
  /** A branch that is merged into it. */
  readonly merges?: string
}

/** Makes a repository of these commits, or goes on with one; gone after the test. */
export async function gitRepository(commits: readonly Commit[], existing?: string): Promise<string> {
  const folder = existing ?? (await temporaryFolder())
  const git = (args: readonly string[], input?: Buffer) => execFileSync('git', ['-C', folder, ...args], { input })
  if (existing === undefined) git(['init', '--quiet', '--initial-branch=main'])
  const parts: Buffer[] = []
  /** The end of each branch: a mark, or the repository's own. */
  const ends = new Map(existing === undefined ? [] : [['main', 'refs/heads/main^0']])
  for (const [nth, { at, written, files, branch = 'main', merges }] of commits.entries()) {
    const lines = [
      `commit refs/heads/${branch}`,
      `mark :${nth + 1}`,
      ...(written === undefined ? [] : [`author A <a@example.org> ${Math.floor(written / 1000)} +0000`]),
      `committer A <a@example.org> ${Math.floor(at / 1000)} +0000`,
      'data 0',
    ]
    const from = ends.get(branch) ?? ends.get('main')
    if (from !== undefined) lines.push(`from ${from}`)
    if (merges !== undefined) lines.push(`merge ${ends.get(merges)}`)
    ends.set(branch, `:${nth + 1}`)
    parts.push(Buffer.from(`${lines.join('\n')}\n`))
    for (const [path, content] of Object.entries(files)) {
      if (content === null) {
        parts.push(Buffer.from(`D ${path}\n`))
        continue
      }
      const bytes = Buffer.from(content)
      parts.push(Buffer.from(`M 100644 inline ${path}\ndata ${bytes.length}\n`), bytes, Buffer.from('\n'))
    }
  }
  git(['fast-import', '--quiet', '--force'], Buffer.concat(parts))
  return folder
}
