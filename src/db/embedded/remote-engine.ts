import { PGlite, protocol } from '@electric-sql/pglite'

type ProtocolOptions = Parameters<PGlite['execProtocolStream']>[1]
type Messages = Awaited<ReturnType<PGlite['execProtocolStream']>>

/** A running Postgres, in this thread or another, or in another process. */
export type Engine = PGlite | RemoteEngine

/** The class above PGlite: makes messages of the Postgres protocol from statements and transactions. PGlite itself has another below it, for threads of browsers. */
const Statements = Object.getPrototypeOf(PGlite) as abstract new () => Pick<
  PGlite,
  'query' | 'exec' | 'transaction' | '_initArrayTypes'
>

/** Statements and transactions of a Postgres that is elsewhere: each message goes there, and its response comes back. */
export abstract class RemoteEngine extends Statements {
  readonly debug = 0
  #isClosed = false
  #lastTransaction: Promise<unknown> = Promise.resolve()
  #lastStatement: Promise<unknown> = Promise.resolve()
  #blob: Uint8Array | undefined

  /**
   * Sends a message of the Postgres protocol and returns the whole response.
   * @param blob what `/dev/blob` holds for this statement, with its first message
   */
  abstract exchange(message: Uint8Array, blob?: Uint8Array): Promise<Uint8Array>
  /** Cancels the statement that runs now: it fails with SQLSTATE 57014. Nothing where none runs. */
  abstract interrupt(): void
  protected abstract end(): Promise<void>

  get closed(): boolean {
    return this.#isClosed
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.end()
  }

  async execProtocolStream(message: Uint8Array, { throwOnError = true }: ProtocolOptions = {}): Promise<Messages> {
    const blob = this.#blob
    this.#blob = undefined
    const response = await this.exchange(message, blob)
    const messages: Messages = []
    new protocol.Parser().parse(response, (one) => messages.push(one))
    const error = messages.find((one) => one.name === 'error')
    if (error !== undefined && throwOnError) throw error
    return messages
  }

  async _handleBlob(blob?: Blob): Promise<void> {
    this.#blob = blob && new Uint8Array(await blob.arrayBuffer())
  }

  async _checkReady(): Promise<void> {
    if (this.#isClosed) throw new Error('the embedded database is closed')
  }

  async _runExclusiveTransaction<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastTransaction.then(work)
    this.#lastTransaction = done.catch(() => undefined)
    return await done
  }

  async _runExclusiveQuery<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastStatement.then(work)
    this.#lastStatement = done.catch(() => undefined)
    return await done
  }

  async _getWrittenBlob(): Promise<undefined> {
    return undefined
  }

  async _cleanupBlob(): Promise<void> {}

  async syncToFs(): Promise<void> {}
}

/** Sends a message to an engine of either kind, as `exchange` of a remote one. */
export async function exchange(engine: Engine, message: Uint8Array, blob?: Uint8Array): Promise<Uint8Array> {
  if (engine instanceof RemoteEngine) return await engine.exchange(message, blob)
  if (blob) await engine._handleBlob(new Blob([blob.slice()]))
  const parts: Uint8Array[] = []
  await engine.execProtocolRawStream(message, { syncToFs: false, onRawData: (bytes) => void parts.push(bytes.slice()) })
  const [only = new Uint8Array()] = parts
  if (parts.length <= 1) return only
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
