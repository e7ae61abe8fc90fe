import { setFlagsFromString } from 'node:v8'

/**
 * Keeps WebAssembly in the code of V8's first compiler. The second one makes what is called often faster, which does not
 * pay for the parser of HTTP responses (a poll takes 75 instead of 112 MB and a quarter less processor time), nor for an
 * embedded database that answers only some questions (a report takes 150 instead of 225 MB and a third of the time).
 * To be called before code is loaded that was kept: V8 accepts it only under the flags under which it was kept.
 */
export function compileWebAssemblyOnce(): void {
  setOptimizing(false)
}

/** Opens what works for long, an embedded database, with the second compiler. What is loaded later does without again. */
export async function withOptimizingCompiler<T>(open: () => Promise<T>): Promise<T> {
  setOptimizing(true)
  try {
    return await open()
  } finally {
    setOptimizing(false)
  }
}

/** What `--liftoff-only` means when V8 starts; Node 20, 22 and 24 know both. */
function setOptimizing(isOn: boolean): void {
  for (const flag of ['wasm-tier-up', 'wasm-dynamic-tiering']) setFlagsFromString(`--${isOn ? '' : 'no-'}${flag}`)
}

/**
 * Makes this process take less memory and more time, before the embedded database is opened: the heap is collected before it grows. Measured on a first sync of all items: 225
 * instead of 360 MB at the peak, half again as much processor time; on a later one 207 instead of 270 MB for the same time.
 */
export function enableLowMemoryMode(): void {
  setFlagsFromString('--optimize-for-size')
}
