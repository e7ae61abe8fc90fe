import { spawn, spawnSync } from 'node:child_process'
import { type Environment, mainFile } from './cli.ts'

/** Whether util-linux's `script` is there, which gives a program a pseudo-terminal. */
export const hasTerminals = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux')

/**
 * Starts `wynnsync` with a pseudo-terminal as stdin, stdout and stderr.
 * @param size of the terminal; by default it does not know its own
 */
export function onTerminal(
  args: readonly string[],
  environment: Environment,
  cwd: string,
  size?: { readonly columns: number; readonly rows: number },
) {
  const program = [process.execPath, mainFile, ...args].map((word) => `'${word}'`).join(' ')
  const words = size ? `stty cols ${size.columns} rows ${size.rows}; ${program}` : program
  return wordsOnTerminal(words, environment, cwd)
}

/** The same of a shell's command. */
export function wordsOnTerminal(words: string, environment: Environment, cwd: string) {
  const child = spawn('script', ['--quiet', '--return', '--echo', 'always', '--command', words, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, TERM: 'xterm', SHELL: '/bin/sh', WYNNSYNC_CLOCK: 'api', ...environment },
  })
  let out = ''
  const seen = new Set<() => void>()
  const onData = (piece: string) => {
    out += piece
    for (const look of seen) look()
  }
  child.stdout.setEncoding('utf8').on('data', onData)
  child.stderr.setEncoding('utf8').on('data', onData)
  const finished = new Promise<{ code: number | null; out: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, out }))
  })
  /** Resolves when what was shown so far ends like this. */
  const until = (what: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!what.test(out)) return
        seen.delete(look)
        resolve()
      }
      seen.add(look)
      child.once('close', () => reject(new Error(`it ended before it showed ${what}: ${out}`)))
      look()
    })
  return { child, finished, until, send: (text: string) => void child.stdin.write(text) }
}
