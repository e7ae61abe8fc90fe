import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Usage } from './meter.ts'

/** What a finished child, with the processes it started, came to. */
export interface Finished extends Usage {
  readonly out: string
  readonly wallMs: number
}

/**
 * Runs node to its end and measures it. The environment is empty but for `variables`, and the working directory has no
 * `.env`: nothing of the developer's own settings is in the figures.
 * @param options.stopAfter ms after which it is told to stop, by SIGTERM; otherwise it ends by itself
 * @param options.codes exit codes that it may end with
 * @throws Error with what the child said, when its exit code is another
 */
export async function runNode(
  args: readonly string[],
  variables: Record<string, string>,
  { stopAfter, codes = [0] }: { readonly stopAfter?: number; readonly codes?: readonly number[] } = {},
): Promise<Finished> {
  const folder = await mkdtemp(join(tmpdir(), 'wynnsync-child-'))
  try {
    const meter = new URL('meter.js', import.meta.url)
    meter.searchParams.set('into', folder)
    const started = performance.now()
    const child = startNode(args, { ...variables, NODE_OPTIONS: `--import=${meter.href}` }, folder)
    const stop = stopAfter && setTimeout(() => child.kill('SIGTERM'), stopAfter)
    const [out, said, code] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)])
    const wallMs = performance.now() - started
    if (stop) clearTimeout(stop)
    if (!codes.includes(Number(code))) throw new Error(`${args.join(' ')} ended with ${code}: ${said}`)
    return { ...sum(await readUsages(folder)), out, wallMs }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Starts node with nothing but `variables` in its environment. */
export function startNode(args: readonly string[], variables: Record<string, string>, cwd: string = tmpdir()) {
  return spawn(process.execPath, args, { cwd, env: variables, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Exit code, or the signal that ended the child. */
export function ended(child: ChildProcess): Promise<number | string | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
}

async function readUsages(folder: string): Promise<Usage[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as Usage))
}

/** Processor time adds up; of memory the largest process counts, since they hardly overlap. */
function sum(usages: readonly Usage[]): Usage {
  return {
    cpuMs: usages.reduce((total, { cpuMs }) => total + cpuMs, 0),
    peakMb: Math.max(...usages.map(({ peakMb }) => peakMb)),
  }
}
