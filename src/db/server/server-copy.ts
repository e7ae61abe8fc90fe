import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { FatalError } from '../../app/errors.ts'
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

function* buffers(chunks: Iterable<string>): Generator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

function onRejection(pending: object, listener: (error: unknown) => void): void {
  if (!('reject' in pending) || typeof pending.reject !== 'function')
    throw new FatalError('this version of postgres.js does not report a failed COPY')
  pending.reject = listener
}
