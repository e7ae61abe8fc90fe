/*
 * Messages of the Postgres protocol, version 3 (manual, chapter "Frontend/Backend Protocol"): a letter, the length of the
 * rest with itself (int32), the rest. Only the very first ones of a connection have no letter.
 */

/*
 * What processes of this program say to each other besides, over the socket of a data folder.
 */

/** Parameter of a connection whose transactions come before questions. */
export const WORK = 'wynnsync.work'
/** Parameter of a connection whose questions syncs wait for as long, ms. */
export const PATIENCE = 'wynnsync.patience'
/** Parameter of a connection that gets the whole response to each message as one message, with this letter. */
export const FRAMES = 'wynnsync.frames'
export const FRAME = 'w'
/** Parameter that the holder reports where it knows the message with this letter: whether what follows comes before other work, in one byte. */
export const AHEAD = 'wynnsync.ahead'
export const AHEAD_MESSAGE = 'a'
/** Takes a named lock, and gives it back. The response is one byte: whether the client has it. */
export const LOCK = 'L'
export const UNLOCK = 'U'

/** SQLSTATEs with which the process ends a connection: what it had not answered was never begun; it may have been. */
export const ENDED_IN_ORDER = '57P01'
export const ENDED_AT_ONCE = '57P02'

/** What a connection begins with. */
export type Opening =
  | { readonly kind: 'start'; readonly parameters: ReadonlyMap<string, string> }
  | { readonly kind: 'encrypt' }
  | { readonly kind: 'cancel'; readonly id: number; readonly secret: number }
  | { readonly kind: 'unknown' }

const CODES: Readonly<Record<number, Opening['kind']>> = {
  80877102: 'cancel',
  80877103: 'encrypt',
  80877104: 'encrypt',
}

/** The longest message that is waited for, in bytes. */
const MESSAGE_BYTES = 64 * 1024 * 1024

/** Cuts what arrives into whole messages. Bytes that are not whole yet wait for the next call. */
export class MessageReader {
  readonly #longest: number
  #chunks: Buffer[] = []
  #length = 0

  /** @param longest message that is waited for, in bytes */
  constructor(longest = MESSAGE_BYTES) {
    this.#longest = longest
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    this.#length += chunk.length
  }

  /** The next message that has no letter. */
  opening(): Buffer | undefined {
    return this.#take(0)
  }

  /** @throws RangeError when it is not this protocol */
  message(): Buffer | undefined {
    return this.#take(1)
  }

  #take(letters: 0 | 1): Buffer | undefined {
    if (this.#length < 4 + letters) return undefined
    // Of a long message, chunks are joined when all are there.
    if ((this.#chunks[0]?.length ?? 0) < 4 + letters) this.#join()
    const length = this.#chunks[0]?.readInt32BE(letters) ?? 0
    if (length < 4 || length > this.#longest) throw new RangeError('this is not the Postgres protocol')
    const end = length + letters
    if (this.#length < end) return undefined
    if ((this.#chunks[0]?.length ?? 0) < end) this.#join()
    const [all = Buffer.alloc(0)] = this.#chunks
    this.#chunks[0] = all.subarray(end)
    this.#length -= end
    if (end === all.length) this.#chunks.shift()
    return all.subarray(0, end)
  }

  #join(): void {
    this.#chunks = [Buffer.concat(this.#chunks)]
  }
}

export function readOpening(message: Buffer): Opening {
  const code = message.length >= 8 ? message.readInt32BE(4) : 0
  const kind = CODES[code]
  if (kind === 'encrypt') return { kind }
  if (kind === 'cancel' && message.length === 16)
    return { kind, id: message.readInt32BE(8), secret: message.readInt32BE(12) }
  if (code >> 16 !== 3) return { kind: 'unknown' }
  const words = message.toString('utf8', 8).split('\0')
  const parameters = new Map<string, string>()
  for (let at = 0; words[at]; at += 2) parameters.set(words[at] ?? '', words[at + 1] ?? '')
  return { kind: 'start', parameters }
}

/** A message to a client: the letter and what follows, texts with their closing zero. */
export function messageOf(letter: string, ...parts: readonly (string | number | Uint8Array)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(`${part}\0`)
      if (typeof part !== 'number') return part
      const number = Buffer.alloc(4)
      number.writeInt32BE(part)
      return number
    }),
  )
  const head = Buffer.alloc(5)
  head.write(letter, 'latin1')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

export function errorMessage(severity: 'ERROR' | 'FATAL', sqlState: string, message: string): Buffer {
  return messageOf('E', `S${severity}`, `V${severity}`, `C${sqlState}`, `M${message}`, new Uint8Array(1))
}

/** Ready for the next statement, with no transaction open. */
export const READY = messageOf('Z', Buffer.from('I'))

/**
 * The message with the name of its prepared statement made one of this client's own, since all share one session. Portals
 * need none: they end with the transaction, and no other client is served during one.
 */
export function withOwnNames(message: Buffer, prefix: string): Buffer {
  const letter = String.fromCharCode(message[0] ?? 0)
  let at = -1
  if (letter === 'P') at = 5
  else if (letter === 'B') at = message.indexOf(0, 5) + 1
  else if ((letter === 'D' || letter === 'C') && message[5] === 'S'.charCodeAt(0)) at = 6
  // The one without a name stays so: it is gone when another client is served.
  if (at < 0 || message[at] === 0) return message
  return messageOf(letter, message.subarray(5, at), Buffer.from(prefix), message.subarray(at))
}
