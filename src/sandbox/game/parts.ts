import { constants, crc32, deflateRawSync } from 'node:zlib'
import { once } from '../http/answer.ts'

/** A piece of a body, with its compressed form made when first asked for. */
export interface Part {
  readonly plain: Buffer
  readonly deflated: () => Buffer
}

export function partOf(text: string): Part {
  const plain = Buffer.from(text)
  // Ends on a byte boundary without ending the stream, so that pieces can follow each other.
  return { plain, deflated: once(() => deflateRawSync(plain, { level: 1, finishFlush: constants.Z_FULL_FLUSH })) }
}

export function joinParts(parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  return Buffer.concat(parts.map((part) => part.plain))
}

const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff])
/** An empty last block. */
const lastBlock = Buffer.from([3, 0])

/**
 * The whole body as one gzip stream (RFC 1952) of separately compressed parts: a part that stays is compressed once,
 * however many bodies it is in.
 */
export function gzipParts(parts: readonly Part[], plain: Uint8Array): Uint8Array<ArrayBuffer> {
  const tail = Buffer.alloc(8)
  tail.writeUInt32LE(crc32(plain), 0)
  tail.writeUInt32LE(plain.length % 2 ** 32, 4)
  return Buffer.concat([head, ...parts.map((part) => part.deflated()), lastBlock, tail])
}
