#!/usr/bin/env node
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { userFolders } from './base/user-folders.ts'
import { compiledCode } from './cli/compiled-code.ts'

/** What the bundler made of `cli/program.ts` and all it loads; the build says which. */
declare const EDITION: string

const use = process.argv[2] ?? ''
const isLoading = process.argv.some((argument) => /^--from(=|$)/.test(argument))
// The space of new objects stays small: an eighth less memory at the same cost. Tried with the V8 of Node 20, 22, 24 and 26. A page and
// a recorded response are made of many that live for as long as that takes, and a demo of three days, whose database works all the
// time, took a quarter less processor time with the usual space.
if (/^1[1-4]\./.test(process.versions.v8) && use !== 'serve' && use !== 'demo' && !isLoading) {
  const keepSmall = () => setFlagsFromString('--semi-space-growth-factor=1')
  keepSmall()
  // V8 sets it back to 2 for all threads when one begins.
  process.on('worker', (worker) => worker.once('online', keepSmall))
}
// What runs for long collects its garbage before the heap has grown to several times what is in use: 170 MB instead of 290. What loads a
// recorded response after the other keeps the one before; it would collect for a third of its time. Of a history from git hardly anything is
// new: 600 commits of items take 230 instead of 280 MB, and up to a fifth more processor time.
if (use === 'start' || use === 'backfill') setFlagsFromString(`--heap-growing-percent=${isLoading ? 100 : 30}`)
// Records that a commit replaces leave holes in the pages of the heap: with this flag V8 empties pages of which a fifth is free, and not only
// those that are nearly empty. 600 commits take 204 instead of 231 MB, for up to a tenth more processor time.
if (use === 'backfill' && !isLoading) setFlagsFromString('--optimize-for-size')
// V8 compiles what is called often in WebAssembly a second time, optimized. The parser of HTTP responses does not gain from it: a
// poll takes 75 instead of 112 MB without. Before kept code is loaded, which V8 accepts only under the flags it was kept under.
for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag)
const compiled = compiledCode({
  folder: join(import.meta.dirname, 'program'),
  kept: join(userFolders.cache, 'code'),
  edition: EDITION,
  use: /^[a-z-]+$/.test(use) ? use : 'other',
})
const { interruption, openOutput, runProgram } = compiled.load('program.cjs') as typeof import('./cli/program.ts')
const ending = new AbortController()
// SIGHUP comes when the terminal closes.
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
for (const signal of signals) {
  process.once(signal, () => ending.abort(interruption(signal)))
}
// What cannot be written must not end the work: its exit code says how that went.
process.stderr.on('error', () => undefined)
/** Commands whose result on stdout only says what they did. */
const isWork = /^(sync|start|backfill|migrate|replay|move|lake)$/.test(use)
let isUnwritten = false
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  // `wynnsync query ... | head` closes the pipe early; that is no error.
  if (code === 'EPIPE' || isUnwritten) return
  isUnwritten = true
  process.stderr.write(`wynnsync: the result could not be written: ${code}\n`)
  if (!isWork) process.exitCode ||= 1
})

const code = await runProgram(process.argv.slice(2), {
  out: openOutput(process.stdout),
  err: openOutput(process.stderr),
  signal: ending.signal,
  restoreSignals: () => {
    for (const signal of signals) process.removeAllListeners(signal)
  },
})
// Not `process.exit` at once: pending output must reach stdout. Then nothing that is left, such as a socket whose peer is silent,
// keeps the process for long, and a signal ends it.
process.exitCode ||= code
for (const signal of signals) process.removeAllListeners(signal)
if (code === 0) compiled.keep()
process.stdout.write('', () => setTimeout(() => process.exit(), 2000).unref())
