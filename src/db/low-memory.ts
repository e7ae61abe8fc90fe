import { setFlagsFromString } from 'node:v8'

/** Node 20, 22 and 24 know both. */
const COMPILER = ['wasm-tier-up', 'wasm-dynamic-tiering']

/**
 * Opens an embedded database that works for long with V8's second compiler for WebAssembly, which the program switches off when
 * it starts. What is loaded later does without again.
 */
export async function withOptimizingCompiler<T>(open: () => Promise<T>): Promise<T> {
  for (const flag of COMPILER) setFlagsFromString(`--${flag}`)
  try {
    return await open()
  } finally {
    for (const flag of COMPILER) setFlagsFromString(`--no-${flag}`)
  }
}

/**
 * Makes this process take less memory and more time, before the embedded database is opened: with WebAssembly compiled once, 225
 * instead of 360 MB at the peak of a first sync of all items, half again as much processor time; 207 instead of 270 MB of a later
 * one for the same time.
 */
export function enableLowMemoryMode(): void {
  setFlagsFromString('--optimize-for-size')
}
