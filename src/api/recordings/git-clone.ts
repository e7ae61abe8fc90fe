import { once } from 'node:events'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Clock } from '../../base/clock.ts'
import { FatalError, messageOf, RetryableError, UsageError } from '../../base/errors.ts'
import { git, gitOutput } from './git-history.ts'

/** How much of what git fetches is there: `Receiving objects: 45% (123/273)`. */
type FetchProgress = (done: number, of: number) => void

interface FetchOptions {
  readonly clock: Clock
  readonly signal?: AbortSignal
  readonly onProgress?: FetchProgress
}

/** What git may fetch by. `ext::` and the like would run a command that the URL names. */
const protocols = ['https', 'http', 'ssh', 'git', 'file'] as const

/** The address of a repository elsewhere, such as `https://` or `file://` begin; undefined for a folder. */
export function repositoryUrl(place: string): string | undefined {
  if (/^[\w.+-]+::/.test(place)) throw new UsageError(`${place}: git fetches by ${protocols.join(', ')}, not so`)
  const [, protocol] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(place) ?? []
  if (protocol === undefined) return undefined
  if (protocols.some((one) => one === protocol.toLowerCase())) return place
  throw new UsageError(`${place}: git fetches by ${protocols.join(', ')}, not by ${protocol}`)
}

/** A URL without the user and password that it may hold. */
export function shownUrl(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')
}

/** A git that goes on holds a lock for less, ms. */
const LONGEST_LOCK_MS = 60_000

/**
 * Fetches all commits of a repository's default branch into a bare clone: new, or one that was fetched before, which gets what came
 * since. Killed at any moment, the next call fetches what is missing. A clone that cannot be used is made anew: it has nothing that
 * cannot be fetched again.
 * @throws RetryableError when it cannot be reached, with git's own words; FatalError without git
 */
export async function fetchRepository(url: string, folder: string, options: FetchOptions): Promise<void> {
  try {
    await fetchInto(url, folder, options)
  } catch (error) {
    if (options.signal?.aborted || !(await isUnusable(folder, options.clock))) throw error
    await rm(folder, { recursive: true, force: true })
    await fetchInto(url, folder, options)
  }
}

/** Without `--git-dir`, git takes a repository above a folder that is none: one of the user's, with branches of its own. */
const HERE = '--git-dir=.'

/** Whether a clone is damaged, or locked by a git that was killed. */
async function isUnusable(folder: string, clock: Clock): Promise<boolean> {
  for (const path of await readdir(folder, { recursive: true }).catch(() => [])) {
    const found = path.endsWith('.lock') ? await stat(join(folder, path)).catch(() => undefined) : undefined
    if (found && clock.now() - found.mtimeMs > LONGEST_LOCK_MS) return true
  }
  return await gitOutput(folder, [HERE, 'fsck', '--connectivity-only', '--no-dangling']).then(
    () => false,
    // Another error says nothing of the clone.
    (error) => messageOf(error).startsWith(`${folder}: `),
  )
}

async function fetchInto(
  url: string,
  folder: string,
  { signal, onProgress }: Omit<FetchOptions, 'clock'>,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await gitOutput(folder, ['init', '--quiet', '--bare', '--initial-branch=main'])
  const protocol = url.slice(0, url.indexOf(':')).toLowerCase()
  const own = [HERE, '-c', 'gc.auto=0', '-c', 'credential.interactive=false']
  const fetching = ['fetch', '--progress', '--no-tags', '--no-recurse-submodules', '--force', '--update-head-ok']
  const child = git(folder, [...own, ...fetching, 'origin', '+HEAD:refs/heads/main'], {
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_TERMINAL_PROMPT: '0',
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
    // Every user of the machine can read a command line, and the URL may hold a password.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'remote.origin.url',
    GIT_CONFIG_VALUE_0: url,
  })
  const stop = () => void child.kill()
  signal?.addEventListener('abort', stop, { once: true })
  child.stdin.end()
  child.stdout.resume()
  child.stderr.on('data', (chunk: Buffer) => {
    const [, done, of] = /Receiving objects:\s+\d+% \((\d+)\/(\d+)\)/.exec(chunk.toString()) ?? []
    if (of !== undefined) onProgress?.(Number(done), Number(of))
  })
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
    .catch((cause) => {
      throw new FatalError('git cannot be run; install it first', { cause })
    })
    .finally(() => signal?.removeEventListener('abort', stop))
  signal?.throwIfAborted()
  const reason = /^(?:fatal|error|ssh): .*$/m.exec(said)?.[0] ?? `git ended with exit code ${code}`
  if (code !== 0) throw new RetryableError(`${shownUrl(url)}: ${reason.replaceAll(url, shownUrl(url))}`)
}
