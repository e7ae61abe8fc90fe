import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { lockFolder } from '../../src/db/embedded/folder-lock.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The program as it is installed: `node dist/main.js`. */
export const mainFile = join(root, 'dist', 'main.js')

/** What a finished process left behind. */
export interface Finished {
  /** Exit code, or null when a signal ended it. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A process that runs, and what it will have left behind. */
export interface Running {
  readonly child: ChildProcess
  readonly finished: Promise<Finished>
}

/** Environment variables for a child; nothing of the tester's own reaches it but the path. */
export type Environment = Readonly<Record<string, string>>

/** Builds `dist` when it is older than the sources; the first worker does it for all. */
export async function buildProgram(): Promise<void> {
  const unlock = await lockFolder(join(inject('runFolder'), 'build'), { clock: systemClock, waitMs: 100_000 })
  try {
    if (newest(join(root, 'src')) <= newest(join(root, 'dist'))) return
    await promisify(execFile)(process.execPath, [join(root, 'scripts/build.mjs')])
  } finally {
    await unlock()
  }
}

function newest(folder: string): number {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[jt]s$/.test(name))
    return Math.max(0, ...files.map((name) => statSync(join(folder, name)).mtimeMs))
  } catch {
    return 0
  }
}

/** Starts `wynnsync` with these arguments in the run's own folder, where no `.env` lies. */
export function startProgram(
  args: readonly string[],
  environment: Environment = {},
  cwd = inject('runFolder'),
): Running {
  return startCommand(process.execPath, [mainFile, ...args], environment, cwd)
}

/** Starts any command and gathers what it writes. */
export function startCommand(
  command: string,
  args: readonly string[],
  environment: Environment,
  cwd = inject('runFolder'),
): Running {
  const child = spawn(command, args, {
    cwd,
    // The simulated APIs of tests live in another time.
    env: { PATH: process.env.PATH, HOME: cwd, WYNNSYNC_CLOCK: 'api', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, out, err }))
  })
  return { child, finished }
}

/** Runs `wynnsync` to its end. */
export async function runProgram(
  args: readonly string[],
  environment: Environment = {},
  cwd?: string,
): Promise<Finished> {
  return await startProgram(args, environment, cwd).finished
}
