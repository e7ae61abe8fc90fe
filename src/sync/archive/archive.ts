import { createHash } from 'node:crypto'
import { and, eq, isNull, type SQL, sql as text } from 'drizzle-orm'
import type { Api } from '../../api/client.ts'
import type { BodyParts } from '../../api/http/http-client.ts'
import { type HttpExchange, lineOf, tellingHeaders, textOf } from '../../api/http/http-exchange.ts'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import type { Personal } from '../declare/personal.ts'
import type { LastRun } from '../ledger/ledger.ts'
import { sha256 } from '../normalize/hash.ts'
import type { Engine } from '../run/engine.ts'
import { rawAnswer } from '../tables/archive.ts'
import { freshBodies, insertBodies } from './bodies.ts'
import { erasedText, isUnkeepable, type Target } from './erase-archived.ts'

/** The bodies that the requests of one extraction brought, as hashes. */
type SeenBodies = ReturnType<typeof watchBodies>

/**
 * Of the hash is all that the rows of a body depend on: the program's version and the request, too. With the content hash, a
 * response is parsed again once its content hash is given up; with the day, at least daily, whatever else has changed.
 */
export function watchBodies(program: string, startedAt: Date, last: LastRun | undefined) {
  const hashes: Buffer[] = []
  const day = startedAt.toISOString().slice(0, 10)
  /** What the ledger keeps of a response with this content hash; undefined where it took several bodies, or none. */
  const hashWith = (contentHash: Uint8Array) =>
    hashes[0] && hashes.length === 1 ? sha256(Buffer.concat([hashes[0], contentHash])) : undefined
  /** Whether a response took one body, and that is the one of this response. */
  const isBodyOf = (other: LastRun | undefined) =>
    other !== undefined &&
    !other.reload &&
    other.bodyHash !== null &&
    hashWith(other.contentHash)?.equals(other.bodyHash) === true
  return {
    /** Notes a body. Whether it is that of the last accepted response, byte for byte. */
    isKnown: async (request: HttpExchange['request'], body: BodyParts) => {
      const hash = createHash('sha256').update(`${program} ${day} ${lineOf({ request })}\n`)
      for await (const part of body) hash.update(part)
      hashes.push(hash.digest())
      return isBodyOf(last)
    },
    hashWith,
    isBodyOf,
  }
}

/** A client of the API with the exchanges it made. */
export interface RecordingClient {
  readonly api: Api
  /** In the order of the responses; empty when nothing is archived. */
  readonly exchanges: readonly HttpExchange[]
  /** What its requests were sent with: of several kinds the one that is shown less; undefined before the first. */
  credential(): HttpExchange['credential'] | undefined
  /** Absent where every body is parsed. */
  readonly bodies?: SeenBodies | undefined
}

/** The exchanges that are no refusal. */
export function successfulExchanges({ exchanges }: RecordingClient): readonly HttpExchange[] {
  return exchanges.filter(({ outcome }) => outcome.status !== null && outcome.status < 300)
}

export interface ArchiveEntry {
  readonly resource: string
  /** Of a resource whose responses are about people. */
  readonly personal: Personal | undefined
  /** Of a worklist. */
  readonly key?: string | undefined
  readonly runId: string
  readonly takenAt: Date
  /** The instant it speaks for; null when it was refused or could not be read. */
  readonly observedAt: Date | null
  readonly status: string
  /** It was accepted by hand although it looked implausible. */
  readonly accepted?: boolean | undefined
  /** What it shows although players restrict it: never archived. */
  readonly hidden?: readonly Target[] | undefined
}

/** A client for one extraction that counts its requests, and records the exchanges where responses are archived. */
export function recordResponses(
  { api, raw = false, admission }: Pick<Engine, 'api' | 'raw' | 'admission'>,
  bodies?: SeenBodies,
): RecordingClient {
  const exchanges: HttpExchange[] = []
  let credential: HttpExchange['credential'] | undefined
  const record = (exchange: HttpExchange) => {
    admission?.check(exchange)
    if (credential !== 'guest') credential = exchange.credential
    if (raw) exchanges.push(withoutParsed(exchange))
  }
  return { api: api.withRecorder(record, bodies?.isKnown), exchanges, credential: () => credential, bodies }
}

/** The archive has the bytes: what was parsed of them may go as soon as it is prepared. */
function withoutParsed(exchange: HttpExchange): HttpExchange {
  const { outcome } = exchange
  return outcome.wire ? { ...exchange, outcome: { ...outcome, body: null } } : exchange
}

/**
 * To be called first in the transaction of a response: a transaction that needs the whole archive (the swap of a replay,
 * retention) waits for this one, or this one for it, before either has locked anything else.
 */
export async function lockArchive(sql: Sql): Promise<void> {
  await sql.query('lock table sync.raw_answer in row exclusive mode')
}

/** The same lock as a part of a statement: writing no row takes it, too, before the statement reads anything. */
export const LOCKED_ARCHIVE = 'insert into sync.raw_answer select * from sync.raw_answer where false'

/**
 * What archives what the API sent, to be written in the transaction that loads it: each distinct body once. An identical copy of the
 * response before, and what is older than what is known, is not archived.
 */
export async function archivedRows(
  sql: Sql,
  exchanges: readonly HttpExchange[],
  entry: ArchiveEntry,
): Promise<Readonly<Record<string, SQL>>> {
  if (exchanges.length === 0 || entry.status === 'stale') return {}
  // Nothing would be left of the profile but the player's uuid.
  if (entry.hidden?.some((one) => one.fieldGroup === 'everything' && one.playerUuid === entry.key)) return {}
  if (entry.status === 'failed') {
    for (const one of exchanges) if (await isUnkeepable(sql, entry.personal, textOf(one))) return {}
  }
  const responses = entry.personal?.responses[entry.resource]
  const texts = exchanges.map((one) => erasedText(textOf(one), responses, entry.hidden ?? []))
  const { resource, key = null, runId, takenAt, observedAt, status, accepted = false } = entry
  // A response that changed something is no repetition.
  const isChange = status === 'ok'
  if (observedAt !== null && !isChange && (await isCopy(sql, { resource, key, observedAt }, texts))) return {}
  const { hashes, rows: bodies } = await freshBodies(sql, texts, takenAt, { areOften: !isChange })
  const rows = exchanges.map((exchange, position) => ({
    // One number for all of them. The rows of VALUES are evaluated in their order.
    answerId: position === 0 ? text`nextval('sync.raw_answer_number')` : text`currval('sync.raw_answer_number')`,
    position,
    resource,
    key,
    request: lineOf(exchange),
    httpStatus: exchange.outcome.status ?? 0,
    headers: tellingHeaders(exchange.outcome.headers),
    credential: exchange.credential,
    receivedAt: new Date(exchange.outcome.receivedAt),
    observedAt,
    takenAt,
    status,
    accepted,
    hash: hashes[position] ?? new Uint8Array(),
    runId,
  }))
  const answers = typed(sql).insert(rawAnswer).values(rows).getSQL()
  return bodies.length > 0 ? { bodies: insertBodies(sql, bodies).getSQL(), answers } : { answers }
}

/** Whether the same response was archived before: the API caches one for a while, and sends it to every client. */
async function isCopy(
  sql: Sql,
  { resource, key, observedAt }: { resource: string; key: string | null; observedAt: Date },
  texts: readonly Uint8Array[],
): Promise<boolean> {
  const isSameKey = key === null ? isNull(rawAnswer.key) : eq(rawAnswer.key, key)
  const hashes = text.param(texts.map((one) => sha256(one)))
  const rows = await typed(sql)
    .select({ answerId: rawAnswer.answerId })
    .from(rawAnswer)
    .where(and(eq(rawAnswer.resource, resource), isSameKey, eq(rawAnswer.observedAt, observedAt)))
    .groupBy(rawAnswer.answerId)
    .having(text`array_agg(${rawAnswer.hash} order by ${rawAnswer.position}) = ${hashes}::bytea[]`)
    .limit(1)
  return rows.length > 0
}
