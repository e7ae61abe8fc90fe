import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { FatalError } from '../../base/errors.ts'
import type { Session } from './server-sessions.ts'

/**
 * Runs `copy ... from stdin` on a session, at the server's pace: the next chunk is read when the socket took the
 * last one. Rejects with the server's error, or with the one that `chunks` threw.
 */
export async function copyIn(session: Session, statement: string, chunks: Iterable<string>): Promise<void> {
  const pending = session.client.unsafe(statement)
  const target = await pending.writable()
  // Once it has handed out the stream, postgres.js drops the error of a COPY that fails at its very end (a constraint,
  // most often) into a promise that is resolved already, and the stream would wait for ever.
  onRejection(pending, (error) => target.destroy(error instanceof Error ? error : new Error(String(error))))
  try {
    await pipeline(Readable.from(buffers(chunks), { highWaterMark: 1 }), target)
  } catch (error) {
    // The client may still hold pieces of the broken stream.
    session.lost = true
    throw error
  }
}

/** How much of a COPY is passed on at once, in bytes. */
const PIECE = 256 * 1024

/** Runs `copy ... to stdout` on a session, at the pace of `onLines`. Rejects with the server's error, or with the one of `onLines`. */
export async function copyOut(
  session: Session,
  statement: string,
  onLines: (lines: Buffer) => Promise<void>,
): Promise<void> {
  const pending = session.client.unsafe(statement)
  const source = await pending.readable()
  onRejection(pending, (error) => source.destroy(error instanceof Error ? error : new Error(String(error))))
  try {
    let lines: Buffer[] = []
    let length = 0
    for await (const line of source) {
      lines.push(line)
      length += line.length
      if (length < PIECE) continue
      await onLines(Buffer.concat(lines))
      lines = []
      length = 0
    }
    // postgres.js pauses the socket for what was not read yet, and does not resume it when that was the end.
    source._read(0)
    await onLines(Buffer.concat(lines))
  } catch (error) {
    // The server may go on to send lines.
    session.lost = true
    throw error
  }
}

function* buffers(chunks: Iterable<string>): Generator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

function onRejection(pending: object, listener: (error: unknown) => void): void {
  if (!('reject' in pending) || typeof pending.reject !== 'function')
    throw new FatalError('this version of postgres.js does not report a failed COPY')
  pending.reject = listener
}
