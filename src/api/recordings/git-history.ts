import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { environmentWithout } from '../../base/config.ts'
import { FatalError, RetryableError, UsageError } from '../../base/errors.ts'

/** What a commit did to a file. */
interface GitChange {
  /** Full hash. */
  readonly commit: string
  /** Path in the repository. */
  readonly path: string
  /** Hash of its new content; null: it was removed. */
  readonly blob: string | null
}

/** A file as a commit left it. */
export interface GitVersion {
  /** Full hash. */
  readonly commit: string
  /** When it was written, ms since the epoch: see `GitDates`. */
  readonly at: number
  /** Path in the repository. */
  readonly path: string
  /** Hash of its content. */
  readonly blob: string
}

/**
 * Which of the two dates of a commit counts. A history that was rewritten (`filter-branch`, `rebase`) has new dates of the
 * committer and keeps those of the author: `rising` takes the author's date where it rises.
 */
export type GitDates = 'author' | 'committer' | 'rising'

/** The dates of the commits that the first parents lead through. */
interface CommitDates {
  /** By full hash, ms since the epoch. */
  readonly at: ReadonlyMap<string, number>
  /** Commits whose author has another date than the committer, and how many of them are dated by the author. */
  readonly differing: number
  readonly byAuthor: number
}

/** The contents of a repository, read by one process of git. */
export interface GitBlobs {
  /**
   * Reads a content. Where several are asked for at once, git looks for the next one while this one is read.
   * @param memory gives what it is read into
   * @returns null for what is no blob, or longer than `maxBytes`
   * @throws FatalError for one that git cannot read, and for a pointer of Git LFS
   */
  read(blob: string, maxBytes: number, memory?: (length: number) => Buffer): Promise<Buffer | null>
  close(): void
}

const elsewhere =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|CEILING_DIRECTORIES)$/

/**
 * A repository of any origin runs no code here: no hook, filter, external diff or check of signatures, and nothing is fetched.
 * https://git-scm.com/docs/git#_security. Nor does its configuration, or that of the user, decide what a log prints.
 */
const settings = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'log.showSignature=false',
  'log.showRoot=true',
  'log.follow=false',
].flatMap((setting) => ['-c', setting])

/** For `GIT_ALLOW_PROTOCOL`. Unlike `protocol.allow`, no configuration of a repository overrides it. */
const NO_PROTOCOL = 'none'

export function git(repository: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  // What `GIT_DIR` and the like say of another repository does not count.
  const env = { ...environmentWithout(elsewhere), GIT_ALLOW_PROTOCOL: NO_PROTOCOL, ...environment }
  return spawn('git', [...settings, '-C', repository, ...args], { env })
}

/**
 * What git prints about a repository.
 * @throws FatalError with git's own words
 */
export async function gitOutput(repository: string, args: readonly string[], input = ''): Promise<string> {
  const child = git(repository, args)
  const out = text(child.stdout)
  // Git's own words, or that it is missing, say more.
  out.catch(() => undefined)
  child.stdin.on('error', () => undefined)
  child.stdin.write(input)
  await endOf(child, repository)
  return await out
}

/** Resolves when git ends well. @throws FatalError with git's own words */
async function endOf(child: ReturnType<typeof git>, repository: string): Promise<void> {
  child.stdin.end()
  const ended = once(child, 'close')
  // A missing git is an `error` event, which `once` rejects with.
  const [err, [code]] = await Promise.all([text(child.stderr), ended]).catch((cause) => {
    throw new FatalError('git cannot be run; install it first', { cause })
  })
  const [reason = ''] = err.trim().split('\n')
  if (/^fatal: transport '\w+' not allowed/.test(reason)) throw partialClone(repository)
  // What the machine has not says nothing of the repository.
  if (code !== 0 && /cannot allocate memory|out of memory|too many open files/i.test(reason))
    throw new RetryableError(`${repository} cannot be read now: ${reason}`)
  const damage = DAMAGED.test(reason) ? `; ${MEND}` : ''
  if (code !== 0) throw new FatalError(`${repository}: ${reason || `git ended with exit code ${code}`}${damage}`)
}

/** What git says of objects that are missing or not as they were written, and what helps. */
const DAMAGED =
  /inflate|corrupt|unable to read|could not read|cannot read commit|bad object|bad tree|packfile|object file .* is empty|invalid parent position|unexpected line in .*packed-refs/i
const MEND =
  'the repository is damaged: clone it again, or remove it where it was fetched from a URL; git fsck says what is'

function partialClone(repository: string): UsageError {
  return new UsageError(
    `${repository} is a partial clone without its files: clone it without --filter, or name its URL`,
  )
}

/** @throws UsageError where HEAD names no commit: the history that counts is that of HEAD; FatalError when it is no repository */
export async function checkHead(repository: string): Promise<void> {
  const branches = (await gitOutput(repository, ['for-each-ref', '--format=%(refname:short)', 'refs/heads'])).split(
    '\n',
  )
  const isThere = await gitOutput(repository, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']).catch((error) => {
    if (error instanceof RetryableError) throw error
    return ''
  })
  if (isThere !== '') return
  const [branch = ''] = branches
  if (branch === '') throw new UsageError(`${repository} has no commit`)
  const named = await gitOutput(repository, ['rev-parse', '--verify', '--quiet', 'HEAD']).catch(() => '')
  if (named !== '')
    throw new FatalError(`${repository}: the commit ${named.trim().slice(0, 10)} of HEAD cannot be read; ${MEND}`)
  throw new UsageError(
    `${repository}: HEAD names no commit, and the branches are ${branches.filter(Boolean).join(', ')}; choose one: git -C ${repository} symbolic-ref HEAD refs/heads/${branch}`,
  )
}

/**
 * What the commits did that the first parents lead through, oldest first, while git prints it.
 * @param globs the files that count; all where there is none
 * @throws FatalError when it is no repository, or git is missing
 */
export async function* gitChanges(repository: string, globs: readonly string[] = []): AsyncGenerator<GitChange> {
  const format = ['--format=%H', '-z', '--raw', '--no-abbrev', '--no-renames', '--no-ext-diff']
  const walk = ['log', '--first-parent', '-m', '--reverse', '--full-history', ...format]
  const child = git(repository, [...walk, '--', ...globs.map((glob) => `:(glob)${glob}`)])
  const ended = endOf(child, repository)
  // It is thrown where it is awaited.
  ended.catch(() => undefined)
  child.stdout.setEncoding('utf8')
  let commit = ''
  let blob: string | null | undefined
  let rest = ''
  try {
    for await (const chunk of child.stdout) {
      const tokens = (rest + chunk).split('\0')
      rest = tokens.pop() ?? ''
      for (const token of tokens) {
        if (blob !== undefined) {
          yield { commit, path: token, blob }
          blob = undefined
          continue
        }
        const line = token.trim()
        if (/^[0-9a-f]{40,}$/.test(line)) commit = line
        const [, mode = '', hash = ''] = /^:\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) /.exec(line) ?? []
        // A link or a submodule is no file; a removal has mode 000000.
        if (mode !== '') blob = mode.startsWith('100') ? hash : null
      }
    }
    await ended
  } catch (error) {
    await ended
    throw error
  } finally {
    child.kill()
  }
}

/**
 * Dates the commits once for all files.
 * @param between a date of an author counts only where it lies between these, ms since the epoch
 * @throws FatalError when it is no repository, or git is missing
 */
export async function datesOfCommits(
  repository: string,
  dates: GitDates,
  between: { readonly earliest: number; readonly latest: number },
): Promise<CommitDates> {
  const walk = ['log', '--first-parent', '--reverse', '--format=%H %ct %at', 'HEAD']
  const commits = (await gitOutput(repository, walk)).split('\n').flatMap((line) => {
    const [hash = '', committed, written] = line.split(' ')
    return hash === '' ? [] : [{ hash, committed: 1000 * Number(committed), written: 1000 * Number(written) }]
  })
  const at = new Map<string, number>()
  let differing = 0
  let byAuthor = 0
  let last = between.earliest
  for (const [nth, { hash, committed, written }] of commits.entries()) {
    const isBelieved = written >= last && written <= Math.min(committed, between.latest)
    // Where the author's date falls, the committer's counts, unless it is past the next commit: then it was made anew.
    const next = commits[nth + 1]?.written ?? Number.POSITIVE_INFINITY
    const isOwn = committed === written || committed <= next || last === between.earliest
    const rising = isBelieved ? written : isOwn ? committed : last + 1000
    const chosen = dates === 'author' ? written : dates === 'committer' ? committed : rising
    at.set(hash, chosen)
    if (committed !== written) differing += 1
    if (committed !== written && chosen === written) byAuthor += 1
    if (isBelieved) last = written
    else if (chosen <= between.latest) last = Math.max(last, chosen)
  }
  return { at, differing, byAuthor }
}

/** How many commits of the history are not among the first parents: branches that were merged. */
export async function countMerged(repository: string): Promise<number> {
  const count = async (...args: string[]) =>
    Number(await gitOutput(repository, ['rev-list', '--count', ...args, 'HEAD']))
  return (await count()) - (await count('--first-parent'))
}

/** What is to be said of a clone that has only the latest commits. */
export async function shallowRemarks(repository: string): Promise<string[]> {
  const isShallow = (await gitOutput(repository, ['rev-parse', '--is-shallow-repository'])).trim() === 'true'
  return isShallow ? ['the clone is shallow: what was before its first commit is missing'] : []
}

/** How long the contents of some blobs are; one that is not there has none. */
export async function blobSizes(repository: string, blobs: Iterable<string>): Promise<Map<string, number>> {
  const format = '--batch-check=%(objectname) %(objectsize)'
  const out = await gitOutput(repository, ['cat-file', format], [...blobs].map((blob) => `${blob}\n`).join(''))
  const sizes = out.split('\n').map((line) => line.split(' '))
  return new Map(
    sizes.flatMap(([blob = '', size]) => (/^\d+$/.test(size ?? '') ? [[blob, Number(size)] as const] : [])),
  )
}

/** Opens the contents of a repository; https://git-scm.com/docs/git-cat-file#_batch_output */
export function openBlobs(repository: string): GitBlobs {
  let batch = startBatch(repository)
  let rest = Buffer.alloc(0) as Buffer
  /** What git has not responded to yet, the oldest first. */
  const asked: string[] = []
  async function more(): Promise<Buffer> {
    const { value, done } = await batch.chunks.next()
    if (!done) return value as Buffer
    const said = await batch.said
    if (/transport '\w+' not allowed/.test(said)) throw partialClone(repository)
    // Git ends at a content that is damaged. It is asked anew for the others.
    batch = startBatch(repository)
    rest = Buffer.alloc(0)
    for (const blob of asked.slice(1)) batch.child.stdin.write(`${blob}\n`)
    const [reason = 'git ended early'] = said.split('\n').filter((line) => line !== '')
    throw new FatalError(`git cannot read ${asked[0]}: ${reason}`)
  }
  async function line(): Promise<string> {
    while (!rest.includes('\n')) rest = Buffer.concat([rest, await more()])
    const end = rest.indexOf('\n')
    const text = rest.toString('utf8', 0, end)
    rest = rest.subarray(end + 1)
    return text
  }
  /** Reads so many bytes: into a buffer, where they are wanted. */
  async function content(length: number, into?: Buffer): Promise<void> {
    for (let at = 0; ; rest = await more()) {
      const part = rest.subarray(0, length - at)
      if (into) part.copy(into, at)
      rest = rest.subarray(part.length)
      at += part.length
      if (at === length) return
    }
  }
  async function read(maxBytes: number, memory: (length: number) => Buffer): Promise<Buffer | null> {
    const [, type, size] = (await line()).split(' ')
    if (size === undefined) return null
    const length = Number(size)
    const found = type === 'blob' && length <= maxBytes ? memory(length) : undefined
    await content(length, found)
    await content(1)
    return found ? unpacked(found, maxBytes) : null
  }
  // git responds in order: one content at a time is read.
  let last: Promise<unknown> = Promise.resolve()
  return {
    read(blob, maxBytes, memory = Buffer.allocUnsafeSlow) {
      asked.push(blob)
      batch.child.stdin.write(`${blob}\n`)
      const next = last.then(() => read(maxBytes, memory)).finally(() => asked.shift())
      last = next.catch(() => undefined)
      return next
    },
    close: () => void batch.child.kill(),
  }
}

function startBatch(repository: string) {
  const child = git(repository, ['cat-file', '--batch'])
  // The next read says that it has ended.
  for (const one of [child, child.stdin]) one.on('error', () => undefined)
  return { child, said: text(child.stderr).catch(() => ''), chunks: child.stdout[Symbol.asyncIterator]() }
}

/**
 * What a file holds in UTF-8: a packed one is unpacked, and UTF-16, which PowerShell writes, is converted.
 * @throws FatalError for what only says where the content is
 */
function unpacked(content: Buffer, maxBytes: number): Buffer {
  const [first, second] = content
  if (content.length < 1000 && content.toString('latin1').startsWith('version https://git-lfs'))
    throw new FatalError('a pointer of Git LFS: its content is in no commit')
  if (first === 0x1f && second === 0x8b) return gunzipSync(content, { maxOutputLength: maxBytes })
  if (first === 0xff && second === 0xfe) return Buffer.from(content.toString('utf16le', 2))
  if (first === 0xfe && second === 0xff && content.length % 2 === 0)
    return Buffer.from(Buffer.from(content).swap16().toString('utf16le', 2))
  return content
}
