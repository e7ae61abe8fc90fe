#!/usr/bin/env node
import { keepCompiledCode } from './cli/compiled-code.ts'

await keepCompiledCode()
const { interruption, openOutput, runProgram } = await import('./cli/program.ts')
const ending = new AbortController()
const signals = ['SIGINT', 'SIGTERM'] as const
for (const signal of signals) {
  process.once(signal, () => ending.abort(interruption(signal)))
}
// `wynnsync query ... | head` closes the pipe early; that is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const code = await runProgram(process.argv.slice(2), {
  out: openOutput(process.stdout),
  err: openOutput(process.stderr),
  signal: ending.signal,
  restoreSignals: () => {
    for (const signal of signals) process.removeAllListeners(signal)
  },
})
// Not `process.exit`: pending output must reach stdout.
process.exitCode = code
