import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { codeOf, FatalError, RetryableError } from '../../base/errors.ts'
import { isBeforeOthers, type Lock } from '../database.ts'
import {
  AHEAD,
  AHEAD_MESSAGE,
  ENDED_AT_ONCE,
  ENDED_IN_ORDER,
  FRAME,
  FRAMES,
  LOCK,
  MessageReader,
  messageOf,
  PATIENCE,
  UNLOCK,
  WORK,
} from '../pgwire/messages.ts'
import { inOrder, RemoteEngine } from './remote-engine.ts'

interface Waiting {
  resolve(response: Uint8Array): void
  reject(error: Error): void
}

const PROTOCOL = 196_608
const CANCEL = 80_877_102
/** How long an answer is waited for before this says so, ms. */
const SAY_AFTER_MS = 2000

interface SocketOptions {
  /** Whether its transactions may write, and come before questions. */
  readonly isWork: boolean
  /** Of questions: how long they run although a sync waits, ms; a second where it is not said. */
  readonly patienceMs?: number | undefined
  /** Called once, when an answer takes long. */
  readonly onSlow?: (() => void) | undefined
}

/** The embedded database of another process, which answers on a socket. */
export class SocketEngine extends RemoteEngine {
  readonly #path: string
  readonly #socket: Socket
  readonly #reader = new MessageReader(Number.POSITIVE_INFINITY)
  readonly #waiting: Waiting[] = []
  #opening: Waiting | undefined
  #key: Buffer | undefined
  #isCancelling = false
  #failure: Error | undefined
  #isUncertain = true
  /** Whether what was sent last comes before other work. Undefined: the other process knows no such thing. */
  #isAhead: boolean | undefined
  #onSlow: (() => void) | undefined

  /** @throws the system's error where no process answers */
  static async open(path: string, { isWork, patienceMs, onSlow }: SocketOptions): Promise<SocketEngine> {
    const socket = connect(path)
    await once(socket, 'connect')
    const engine = new SocketEngine(path, socket)
    engine.#onSlow = onSlow
    const settings = isWork ? [WORK, 'on'] : ['default_transaction_read_only', 'on']
    const patience = patienceMs === undefined ? [] : [PATIENCE, String(patienceMs)]
    const parameters = ['user', 'wynnsync', 'database', 'wynnsync', FRAMES, 'on', ...settings, ...patience, '']
    const body = Buffer.from(parameters.join('\0'))
    const head = Buffer.alloc(8)
    head.writeInt32BE(body.length + 9)
    head.writeInt32BE(PROTOCOL, 4)
    await new Promise<Uint8Array>((resolve, reject) => {
      engine.#opening = { resolve, reject }
      socket.write(Buffer.concat([head, body, Buffer.alloc(1)]))
    })
    await engine._initArrayTypes()
    return engine
  }

  private constructor(path: string, socket: Socket) {
    super()
    this.#path = path
    this.#socket = socket
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', () => {})
    socket.on('close', () => this.#fail(holderEnded()))
  }

  /** Whether the other process has ended, or ended this connection. */
  get isLost(): boolean {
    return this.#failure !== undefined
  }

  /**
   * Of a lost one: whether the message that was not answered may have been run. Not where the other process ended in order, which
   * begins nothing more, nor where the message did not reach it.
   */
  get isUncertain(): boolean {
    return this.#isUncertain
  }

  override async exchange(messages: readonly Uint8Array[], blob?: Uint8Array): Promise<Uint8Array> {
    return await inOrder(messages, (message, nth) =>
      this.#request(blob && nth === 0 ? [messageOf('d', blob), message] : [message]),
    )
  }

  override interrupt(): void {
    if (this.#waiting.length === 0 || !this.#key || this.#isCancelling) return
    this.#isCancelling = true
    const request = Buffer.alloc(8)
    request.writeInt32BE(16)
    request.writeInt32BE(CANCEL, 4)
    const socket = connect(this.#path, () => socket.end(Buffer.concat([request, this.#key ?? Buffer.alloc(8)])))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#isCancelling = false
    })
  }

  /** Takes the named lock for this connection, or returns null at once when another has it. */
  async tryLock(name: string): Promise<Lock | null> {
    const [isMine] = await this.#request([messageOf(LOCK, name)])
    if (isMine !== 1) return null
    return {
      release: async () => {
        if (!this.isLost) await this.#request([messageOf(UNLOCK, name)])
      },
    }
  }

  protected override async end(): Promise<void> {
    this.#socket.end(messageOf('X'))
    this.#socket.destroySoon()
  }

  async #request(messages: readonly Uint8Array[]): Promise<Uint8Array> {
    if (this.#failure) throw this.#failure
    this.#socket.ref()
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      const unsent = (error?: Error | null) => {
        if (error && this.#waiting.length <= 1) this.#isUncertain = false
      }
      for (const message of [...this.#ahead(), ...messages]) this.#socket.write(message, unsent)
      this.#watch()
    })
  }

  /** The message that says whether what follows comes before other work, where that changes. */
  #ahead(): Uint8Array[] {
    if (this.#isAhead === undefined || this.#isAhead === isBeforeOthers()) return []
    this.#isAhead = !this.#isAhead
    return [messageOf(AHEAD_MESSAGE, Uint8Array.of(Number(this.#isAhead)))]
  }

  /** Says once that the answer to what was sent last takes long. */
  #watch(): void {
    const waiting = this.#waiting.at(-1)
    if (!this.#onSlow || !waiting) return
    const say = () => {
      if (this.#waiting.includes(waiting)) this.#onSlow?.()
      else return
      this.#onSlow = undefined
    }
    setTimeout(say, SAY_AFTER_MS).unref()
  }

  #take(chunk: Uint8Array): void {
    this.#reader.push(chunk)
    for (let message = this.#reader.message(); message; message = this.#reader.message()) {
      const letter = String.fromCharCode(message[0] ?? 0)
      const body = message.subarray(5)
      if (letter === FRAME) this.#waiting.shift()?.resolve(body)
      else if (letter === 'E') this.#lose(body)
      else if (letter === 'K') this.#key = Buffer.from(body)
      else if (letter === 'S' && body.toString('utf8').startsWith(AHEAD)) this.#isAhead = false
      else if (letter === 'Z') {
        this.#opening?.resolve(body)
        this.#opening = undefined
      }
    }
    // The process may end while nothing is asked.
    if (this.#waiting.length === 0 && !this.#opening) this.#socket.unref()
  }

  /** The other process ends the connection, and says why. */
  #lose(body: Buffer): void {
    const { sqlState, message } = reasonOf(body)
    if (sqlState === ENDED_IN_ORDER) this.#isUncertain = false
    this.#fail(lossOf(sqlState, message))
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#opening?.reject(error)
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}

function reasonOf(body: Buffer): { sqlState: string | undefined; message: string } {
  const fields = new Map(
    body
      .toString('utf8')
      .split('\0')
      .map((field) => [field.slice(0, 1), field.slice(1)]),
  )
  return { sqlState: fields.get('C'), message: fields.get('M') ?? '' }
}

function lossOf(sqlState: string | undefined, message: string): Error {
  if (sqlState === '57014') return new FatalError(message, { context: { sqlState } })
  const hasEnded = sqlState === ENDED_IN_ORDER || sqlState === ENDED_AT_ONCE
  return hasEnded ? holderEnded() : new RetryableError(message, { context: { sqlState } })
}

function holderEnded(): RetryableError {
  return new RetryableError('the process that has the embedded database open has ended; try again')
}

/** Whether no process answers on the socket. */
export function isUnanswered(error: unknown): boolean {
  return ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ECONNRESET', 'EPIPE'].includes(String(codeOf(error)))
}
