import type { Sql } from '../../db/database.ts'
import { STORED_BODY, type StoredBody, textOfBody } from '../archive/bodies.ts'
import { sha256 } from '../normalize/hash.ts'
import { type Check, collectWrong } from './check.ts'

/** How many bodies are read at once. */
const BATCH = 50

export const archiveUnused = {
  name: 'archive unused',
  table: 'sync.raw_body',
  meaning: 'bodies that no archived response has and no other body needs, which no retention and no purge would find',
  find: `select encode(hash, 'hex') as hash, first_at from sync.raw_body
          where not exists (select from sync.raw_answer where raw_answer.hash = raw_body.hash)
            and not exists (select from sync.raw_body other where other.base = raw_body.hash)`,
} as const satisfies Check

/** What must hold of the archived responses. */
export const archiveChecks: readonly Check[] = [
  {
    name: 'archive body',
    table: 'sync.raw_body',
    meaning: 'bodies that cannot be decompressed, whose base is missing, or that are not what their hash says',
    find: async (sql, signal) => {
      const wrong = collectWrong()
      for await (const rows of bodiesOf(sql)) {
        signal?.throwIfAborted()
        await Promise.all(
          rows.map(async ({ hash, ...stored }) => {
            const problem = await problemOf(hash, stored)
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

interface Body extends StoredBody {
  readonly hash: Uint8Array
  readonly bytes: number
  readonly base: Uint8Array | null
}

async function* bodiesOf(sql: Sql): AsyncGenerator<Body[]> {
  let last: Uint8Array = Buffer.alloc(0)
  for (;;) {
    const rows = await sql.query<Body>(
      `select raw_body.hash, raw_body.bytes, raw_body.base, ${STORED_BODY.columns}
         from sync.raw_body ${STORED_BODY.join} where raw_body.hash > $1 order by raw_body.hash limit ${BATCH}`,
      [last],
    )
    if (rows.length === 0) return
    yield rows
    last = rows.at(-1)?.hash ?? last
  }
}

async function problemOf(
  hash: Uint8Array,
  { base, bytes, ...stored }: Omit<Body, 'hash'>,
): Promise<string | undefined> {
  if (base !== null && stored.baseBody === null)
    return `differs from ${Buffer.from(base).toString('hex')}, which is not there`
  const text = await textOfBody(stored).catch(() => undefined)
  if (text === undefined) return 'cannot be decompressed'
  if (text.length !== bytes) return `has ${text.length} bytes instead of ${bytes}`
  return sha256(text).equals(hash) ? undefined : 'has another SHA-256'
}
