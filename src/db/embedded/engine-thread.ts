import { Worker } from 'node:worker_threads'
import { FatalError, messageOf } from '../../base/errors.ts'
import { SYSTEM_ERROR } from '../sql-errors.ts'
import { DamagedCluster } from './embedded-engine.ts'
import type { Interrupts, Reply, Request, ThreadData } from './engine-worker.ts'
import { RemoteEngine } from './remote-engine.ts'

interface Waiting {
  resolve(response: Uint8Array): void
  reject(error: Error): void
}

/** Messages that run a statement. What ends or rolls back a transaction is passed on too, and never interrupted. */
const RUNS = new Set(['P', 'B', 'E', 'Q'])

/** Postgres in a thread of its own: this one goes on while a statement runs, and can cancel it. */
export class ThreadEngine extends RemoteEngine {
  readonly #worker: Worker
  readonly #waiting: Waiting[] = []
  #interrupts: Interrupts | undefined
  #isRunning = false
  #failure: Error | undefined

  /**
   * @param program the compiled `engine-worker.ts`
   * @throws DamagedCluster, FatalError as `openEngine`
   */
  static async open(program: URL, data: ThreadData): Promise<ThreadEngine> {
    const engine = new ThreadEngine(new Worker(program, { workerData: data, execArgv: [] }))
    await engine.#response()
    await engine._initArrayTypes()
    return engine
  }

  private constructor(worker: Worker) {
    super()
    this.#worker = worker
    worker.on('message', (reply: Reply) => this.#take(reply))
    worker.on('error', (error) => this.#fail(messageOf(error)))
    worker.on('exit', () => this.#fail('its thread has ended'))
  }

  override interrupt(): void {
    if (!this.#interrupts || !this.#isRunning) return
    const { memory, pending, cancel } = this.#interrupts
    const words = new Int32Array(memory.buffer)
    Atomics.store(words, cancel / 4, 1)
    Atomics.store(words, pending / 4, 1)
  }

  /** Binds the session to the reader, as `bindToReader`. */
  async bind(): Promise<void> {
    await this.#request('bind')
  }

  override async exchange(messages: readonly Uint8Array[], blob?: Uint8Array): Promise<Uint8Array> {
    this.#isRunning = messages.some((message) => RUNS.has(String.fromCharCode(message[0] ?? 0)))
    try {
      return await this.#request({ messages, blob })
    } finally {
      this.#isRunning = false
    }
  }

  protected override async end(): Promise<void> {
    try {
      await this.#request('close')
    } finally {
      await this.#worker.terminate()
    }
  }

  async #request(request: Request): Promise<Uint8Array> {
    if (this.#failure) throw this.#failure
    this.#worker.postMessage(request)
    return await this.#response()
  }

  async #response(): Promise<Uint8Array> {
    // The process may end while nothing is asked of the thread.
    if (this.#waiting.length === 0) this.#worker.ref()
    return await new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  #take(reply: Reply): void {
    const waiting = this.#waiting.shift()
    if (this.#waiting.length === 0) this.#worker.unref()
    if ('opened' in reply) this.#interrupts = reply.opened
    if (!('failed' in reply)) waiting?.resolve('response' in reply ? reply.response : new Uint8Array())
    else
      waiting?.reject(
        reply.isDamaged
          ? new DamagedCluster(reply.failed)
          : new FatalError(reply.failed, { context: { sqlState: SYSTEM_ERROR } }),
      )
  }

  #fail(reason: string): void {
    this.#failure ??= new FatalError(`the embedded database failed: ${reason}`, { context: { sqlState: SYSTEM_ERROR } })
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure)
  }
}
