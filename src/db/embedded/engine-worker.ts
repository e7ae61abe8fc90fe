import { readFile } from 'node:fs/promises'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../base/errors.ts'
import {
  type CompiledModule,
  DamagedCluster,
  type EngineOptions,
  openEngine,
  type SharedMemory,
} from './embedded-engine.ts'
import { bindToReader } from './embedded-reader.ts'
import { exchange, inOrder } from './remote-engine.ts'

/*
 * The thread in which Postgres runs. It gets messages of the Postgres protocol and posts their responses.
 *
 * Postgres looks at two variables of its memory whether its statement is to be cancelled; on a server the handler of a signal sets
 * them. Here the other thread does, so the memory must be shared. PGlite is built for memory of its own: what a WebAssembly module
 * says about the memory that it imports is changed before it is compiled. Nothing else in it depends on that.
 */

/** What the thread is started with. */
export interface ThreadData {
  readonly folder: string
  readonly options: Pick<EngineOptions, 'durable' | 'parameters'>
}

export type Request =
  | { readonly messages: readonly Uint8Array[]; readonly blob?: Uint8Array | undefined }
  | 'bind'
  | 'close'

/** Where the other thread finds the two variables, in bytes. */
export interface Interrupts {
  readonly memory: SharedMemory
  readonly pending: number
  readonly cancel: number
}

export type Reply =
  | { readonly opened: Interrupts }
  | { readonly response: Uint8Array }
  | { readonly failed: string; readonly isDamaged: boolean }

const PAGES = { initial: 2048, maximum: 32_768 }
const IMPORTS = 2
const KIND = { function: 0, table: 1, memory: 2, global: 3, tag: 4 }
const SHARED_WITH_MAXIMUM = 3

/** A number in LEB128, as WebAssembly spells it, and where the next one begins. */
function numberAt(code: Uint8Array, at: number): readonly [number, number] {
  let value = 0
  let bits = 0
  let next = at
  for (;;) {
    const byte = code[next++] ?? 0
    value |= (byte & 127) << bits
    bits += 7
    if (byte < 128) return [value >>> 0, next]
  }
}

function spelled(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...spelled(value >>> 7)]
}

/** The module with its memory shared; as it is where it imports none. */
function withSharedMemory(code: Uint8Array): Uint8Array {
  for (let at = 8; at < code.length; ) {
    const start = at
    const id = code[at]
    const [size, body] = numberAt(code, at + 1)
    at = body + size
    if (id !== IMPORTS) continue
    const [from, to, initial] = memoryImport(code, body)
    if (from === to) return code
    const limits = [SHARED_WITH_MAXIMUM, ...spelled(initial), ...spelled(PAGES.maximum)]
    const section = [IMPORTS, ...spelled(size - (to - from) + limits.length)]
    return Buffer.concat([
      code.subarray(0, start),
      Uint8Array.from(section),
      code.subarray(body, from),
      Uint8Array.from(limits),
      code.subarray(to),
    ])
  }
  return code
}

/** Where the limits of the imported memory are, and its first size; nothing from 0 to 0 where there is none. */
function memoryImport(code: Uint8Array, section: number): readonly [from: number, to: number, initial: number] {
  let [count, at] = numberAt(code, section)
  const skip = () => {
    at = numberAt(code, at)[1]
  }
  const limits = () => {
    const hasMaximum = ((code[at++] ?? 0) & 1) === 1
    const [initial, next] = numberAt(code, at)
    at = next
    if (hasMaximum) skip()
    return initial
  }
  for (; count > 0; count--) {
    for (const _name of ['module', 'field']) {
      const [length, next] = numberAt(code, at)
      at = next + length
    }
    const kind = code[at++]
    const from = at
    if (kind === KIND.memory) {
      const initial = limits()
      return [from, at, initial]
    }
    if (kind === KIND.table) {
      at++
      limits()
    } else if (kind === KIND.global) at += 2
    else {
      if (kind === KIND.tag) at++
      skip()
    }
  }
  return [0, 0, 0]
}

/** What of WebAssembly is used; Node has no types of it. */
interface Assembly {
  Module: new (code: Uint8Array) => CompiledModule
  readonly Memory: new (limits: typeof PAGES & { shared: true }) => SharedMemory
  compile(code: Uint8Array): Promise<CompiledModule>
}
const assembly = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly

/** What Postgres loads later, such as PL/pgSQL, is compiled by it. */
function shareMemoryOfModules(): void {
  assembly.Module = new Proxy(assembly.Module, {
    // What it read from a file has signed bytes.
    construct: (Module, [code]: [Int8Array | Uint8Array]) => new Module(withSharedMemory(Uint8Array.from(code))),
  })
}

async function serve(port: MessagePort, { folder, options }: ThreadData): Promise<void> {
  shareMemoryOfModules()
  const code = await readFile(new URL('pglite.wasm', import.meta.resolve('@electric-sql/pglite')))
  const module = await assembly.compile(withSharedMemory(code))
  const memory = new assembly.Memory({ ...PAGES, shared: true })
  const engine = await openEngine(folder, { ...options, shared: { module, memory } })
  const at = engine.Module as unknown as { readonly _InterruptPending: number; readonly _QueryCancelPending: number }
  const opened = { memory, pending: at._InterruptPending, cancel: at._QueryCancelPending }
  if (!(opened.pending > 0 && opened.cancel > 0)) throw new Error('this version of PGlite cannot be interrupted')
  const flags = [opened.pending, opened.cancel]
  const respond = async (request: Request): Promise<Uint8Array> => {
    if (request === 'bind') await bindToReader(engine)
    if (request === 'close') await engine.close()
    if (typeof request === 'string') return new Uint8Array()
    return await inOrder(request.messages, async (message, nth) => {
      // The last statement may have ended just before it was interrupted.
      const words = new Int32Array(memory.buffer)
      for (const flag of flags) Atomics.store(words, flag / 4, 0)
      return await exchange(engine, message, nth === 0 ? request.blob : undefined)
    })
  }
  port.on('message', (request: Request) => {
    respond(request).then(
      (response) => {
        port.postMessage({ response } satisfies Reply, [response.buffer as ArrayBuffer])
        if (request === 'close') port.close()
      },
      (error: unknown) => post(port, error),
    )
  })
  port.postMessage({ opened } satisfies Reply)
}

function post(port: MessagePort, error: unknown): void {
  port.postMessage({ failed: messageOf(error), isDamaged: error instanceof DamagedCluster } satisfies Reply)
}

if (parentPort) {
  const port = parentPort
  await serve(port, workerData as ThreadData).catch((error: unknown) => {
    post(port, error)
    port.close()
  })
}
