import type { Sql } from '../../db/database.ts'
import { decompressed } from '../archive/bodies.ts'
import { sha256 } from '../normalize/hash.ts'
import { type Check, collectWrong } from './check.ts'

/** How many bodies are read at once. */
const BATCH = 50

export const archiveUnused = {
  name: 'archive unused',
  table: 'sync.raw_body',
  meaning: 'bodies that no archived response has, which no retention and no purge would find',
  find: `select encode(hash, 'hex') as hash, first_at from sync.raw_body
          where not exists (select from sync.raw_answer where raw_answer.hash = raw_body.hash)`,
} as const satisfies Check

/** What must hold of the archived responses. */
export const archiveChecks: readonly Check[] = [
  {
    name: 'archive body',
    table: 'sync.raw_body',
    meaning: 'bodies that cannot be decompressed, or are not what their hash says',
    find: async (sql, signal) => {
      const wrong = collectWrong()
      for await (const rows of bodiesOf(sql)) {
        signal?.throwIfAborted()
        await Promise.all(
          rows.map(async ({ hash, body, bytes }) => {
            const problem = await problemOf(hash, body, bytes)
            if (problem !== undefined) wrong.add({ hash: Buffer.from(hash).toString('hex'), problem })
          }),
        )
      }
      return wrong
    },
  },
  {
    name: 'archive response',
    table: 'sync.raw_answer',
    meaning: 'archived responses without their body',
    find: `select answer_id, position, resource, key, encode(hash, 'hex') as hash from sync.raw_answer
            where not exists (select from sync.raw_body where raw_body.hash = raw_answer.hash) order by answer_id, position`,
  },
  archiveUnused,
]

interface Body {
  readonly hash: Uint8Array
  readonly body: Uint8Array
  readonly bytes: number
}

async function* bodiesOf(sql: Sql): AsyncGenerator<Body[]> {
  let last: Uint8Array = Buffer.alloc(0)
  for (;;) {
    const rows = await sql.query<Body>(
      `select hash, body, bytes from sync.raw_body where hash > $1 order by hash limit ${BATCH}`,
      [last],
    )
    if (rows.length === 0) return
    yield rows
    last = rows.at(-1)?.hash ?? last
  }
}

async function problemOf(hash: Uint8Array, body: Uint8Array, bytes: number): Promise<string | undefined> {
  const text = await decompressed(body).catch(() => undefined)
  if (text === undefined) return 'cannot be decompressed'
  if (text.length !== bytes) return `has ${text.length} bytes instead of ${bytes}`
  return sha256(text).equals(hash) ? undefined : 'has another SHA-256'
}
