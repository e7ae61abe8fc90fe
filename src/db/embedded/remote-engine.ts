import { PGlite, protocol } from '@electric-sql/pglite'

type ProtocolOptions = Parameters<PGlite['execProtocolStream']>[1]
type Messages = Awaited<ReturnType<PGlite['execProtocolStream']>>

/** A running Postgres, in this thread or another, or in another process. */
export type Engine = PGlite | RemoteEngine

/** The class above PGlite: makes messages of the Postgres protocol from statements and transactions. PGlite itself has another below it, for threads of browsers. */
const Statements = Object.getPrototypeOf(PGlite) as abstract new () => Pick<
  PGlite,
  'query' | 'exec' | 'transaction' | 'parsers' | '_initArrayTypes'
>

/** Statements and transactions of a Postgres that is elsewhere: each message goes there, and its response comes back. */
export abstract class RemoteEngine extends Statements {
  readonly debug = 0
  #isClosed = false
  #lastTransaction: Promise<unknown> = Promise.resolve()
  #lastStatement: Promise<unknown> = Promise.resolve()
  #blob: Uint8Array | undefined
  #unsent: Uint8Array[] = []
  #last = ''

  /**
   * Sends messages of the Postgres protocol one after another and returns their whole response, as `inOrder`.
   * @param blob what `/dev/blob` holds for this statement, with its first message
   */
  abstract exchange(messages: readonly Uint8Array[], blob?: Uint8Array): Promise<Uint8Array>
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

  /** Sends a message, with those before whose responses nothing depends on: each trip to the other side and back has its price. */
  async execProtocolStream(message: Uint8Array, { throwOnError = true }: ProtocolOptions = {}): Promise<Messages> {
    const kind = kindOf(message)
    // After a simple query nothing is left to end, and Execute was sent with what ends it.
    const isNeedless = kind === 'S' && (this.#last === 'Q' || this.#last === 'E')
    this.#last = kind
    if (isNeedless) return []
    this.#unsent.push(message)
    // All rows come as the response to Execute: PGlite gives each message of that to Sync to one call of a function, which takes no 130,000.
    if (kind === 'E') this.#unsent.push(protocol.serialize.sync())
    if (WITH_NEXT.has(kind)) return []
    const blob = this.#blob
    const sent = this.#unsent
    this.#blob = undefined
    this.#unsent = []
    const response = await this.exchange(sent, blob)
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

/** Parse, Bind, Describe of a portal: PGlite sends each by itself, and the message after them says whether they failed. */
const WITH_NEXT = new Set(['P', 'B', 'DP'])

/** The letter of a message, and of Describe what is described. */
function kindOf(message: Uint8Array): string {
  const letter = String.fromCharCode(message[0] ?? 0)
  return letter === 'D' ? `${letter}${String.fromCharCode(message[5] ?? 0)}` : letter
}

/** Sends messages one after another; after an error only Sync, as a server does. Returns the responses as one. */
export async function inOrder(
  messages: readonly Uint8Array[],
  send: (message: Uint8Array, nth: number) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let isFailed = false
  for (const [nth, message] of messages.entries()) {
    if (isFailed && kindOf(message) !== 'S') continue
    const response = await send(message, nth)
    parts.push(response)
    isFailed ||= nth < messages.length - 1 && hasError(response)
  }
  return joined(parts)
}

function hasError(response: Uint8Array): boolean {
  const view = new DataView(response.buffer, response.byteOffset, response.byteLength)
  for (let at = 0; at + 5 <= response.length; at += 1 + view.getInt32(at + 1))
    if (response[at] === 'E'.charCodeAt(0)) return true
  return false
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
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

/** Sends a message to an engine of either kind, as `exchange` of a remote one. */
export async function exchange(engine: Engine, message: Uint8Array, blob?: Uint8Array): Promise<Uint8Array> {
  if (engine instanceof RemoteEngine) return await engine.exchange([message], blob)
  if (blob) await engine._handleBlob(new Blob([blob.slice()]))
  const parts: Uint8Array[] = []
  await engine.execProtocolRawStream(message, { syncToFs: false, onRawData: (bytes) => void parts.push(bytes.slice()) })
  return joined(parts)
}
