import { inject } from 'vitest'
import { openOutput } from '../../src/cli/output/output.ts'
import { runProgram } from '../../src/cli/program.ts'
import type { Environment, Finished } from './cli.ts'

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs `wynnsync` to its end inside this process, one call after the other: the same code, without the start of a process.
 * For what a command says and does; how the process itself starts and ends is tested with `runProgram` of `cli.ts`.
 */
export async function runInside(
  args: readonly string[],
  environment: Environment = {},
  cwd = inject('runFolder'),
): Promise<Finished> {
  const run = last.then(() => runAlone(args, environment, cwd))
  last = run.catch(() => {})
  return await run
}

async function runAlone(args: readonly string[], environment: Environment, cwd: string): Promise<Finished> {
  const before = { env: process.env, cwd: process.cwd(), title: process.title, write: process.stderr.write }
  let [out, err] = ['', '']
  const stream = (write: (text: string) => void) =>
    openOutput({ isTTY: false, write: (text: string) => write(text) } as unknown as NodeJS.WriteStream)
  const onError = (text: string) => {
    err += text
    return true
  }
  process.env = { PATH: before.env.PATH, HOME: cwd, WYNNSYNC_CLOCK: 'api', ...environment }
  process.chdir(cwd)
  // The log writes there by itself.
  process.stderr.write = onError as typeof process.stderr.write
  try {
    const code = await runProgram(args, {
      out: stream((text) => {
        out += text
      }),
      err: stream(onError),
      signal: new AbortController().signal,
    })
    return { code, out, err }
  } finally {
    process.env = before.env
    process.chdir(before.cwd)
    process.title = before.title
    process.stderr.write = before.write
  }
}
