import { and, eq, isNull, sql as text } from 'drizzle-orm'
import type { Api } from '../../api/client.ts'
import { type HttpExchange, lineOf, tellingHeaders, textOf } from '../../api/http/http-exchange.ts'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import type { Engine } from '../engine.ts'
import { sha256 } from '../normalize/hash.ts'
import type { Personal } from '../privacy/personal.ts'
import { storeBodies } from './bodies.ts'
import { erasedText, isUnkeepable, type Target } from './erase-archived.ts'
import { rawAnswer } from './tables.ts'

/** Somebody who asks the API, and what it said to him. */
export interface RecordingClient {
  readonly api: Api
  /** In the order of the answers; empty when nothing is to be kept. */
  readonly heard: readonly HttpExchange[]
}

/** What was heard that is no refusal. */
export function answersIn({ heard }: RecordingClient): readonly HttpExchange[] {
  return heard.filter(({ outcome }) => outcome.status !== null && outcome.status < 300)
}

/** What the ledger says of an answer. */
export interface ArchiveEntry {
  readonly resource: string
  /** What its responses say of people; undefined where they say nothing. */
  readonly personal: Personal | undefined
  /** Of a worklist. */
  readonly key?: string
  readonly runId: string
  readonly takenAt: Date
  /** The instant it speaks for; null when it was refused or not understood. */
  readonly observedAt: Date | null
  readonly status: string
  /** A person took it although it looked implausible. */
  readonly accepted?: boolean | undefined
  /** What it shows of players although they hide it: never kept. */
  readonly hidden?: readonly Target[] | undefined
}

/** A client for one extraction that counts its requests, and remembers what was said, where raw answers are kept. */
export function recordResponses({ api, raw = false }: Pick<Engine, 'api' | 'raw'>): RecordingClient {
  const heard: HttpExchange[] = []
  const hear = (one: HttpExchange) => {
    if (raw) heard.push(one)
  }
  return { api: api.withRecorder(hear), heard }
}

/**
 * To be called first in the transaction of an answer: whoever looks at all raw answers (a replay that is about to swap,
 * retention) waits for this transaction, or it for him, before it has touched anything.
 */
export async function lockArchive(sql: Sql): Promise<void> {
  await sql.query('lock table sync.raw_answer in row exclusive mode')
}

/**
 * Writes down what the API sent, in the transaction of what it said: each distinct body once. What only repeats the
 * answer before, and what is older than what is known, is not kept.
 */
export async function archiveResponse(sql: Sql, heard: readonly HttpExchange[], taken: ArchiveEntry): Promise<void> {
  if (heard.length === 0 || taken.status === 'stale') return
  // Of a profile that may not be kept nothing would be left but the player's uuid.
  if (taken.hidden?.some((one) => one.fieldGroup === 'everything' && one.playerUuid === taken.key)) return
  if (taken.status === 'failed') {
    for (const one of heard) if (await isUnkeepable(sql, taken.personal, textOf(one))) return
  }
  const responses = taken.personal?.responses[taken.resource]
  const texts = heard.map((one) => erasedText(textOf(one), responses, taken.hidden ?? []))
  const { resource, key = null, runId, takenAt, observedAt, status, accepted = false } = taken
  // A response that changed something is no repetition.
  if (observedAt !== null && status !== 'ok' && (await isCopy(sql, { resource, key, observedAt }, texts))) return
  const hashes = await storeBodies(sql, texts, takenAt)
  const rows = heard.map((exchange, position) => ({
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
  await typed(sql).insert(rawAnswer).values(rows)
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
