import type { Api } from '../../api/client.ts'
import { type HttpExchange, lineOf, tellingHeaders, textOf } from '../../api/http/http-exchange.ts'
import type { Sql } from '../../db/database.ts'
import type { Engine } from '../engine.ts'
import { sha256 } from '../normalize/hash.ts'
import type { Personal } from '../privacy/personal.ts'
import { erasedText, isUnkeepable, type Target } from './erase-archived.ts'
import { compressed } from './text.ts'

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
  const hashes = texts.map((text) => sha256(text))
  const { resource, key = null, runId, takenAt, observedAt, status, accepted = false } = taken
  // What wrote something is no repetition.
  if (observedAt !== null && status !== 'ok' && (await isCopy(sql, { resource, key, observedAt }, hashes))) return
  await keepBodies(sql, texts, hashes, takenAt)
  await sql.query(
    `with numbered as materialized (select nextval('sync.raw_answer_number') as answer_id)
     insert into sync.raw_answer (answer_id, position, resource, key, request, http_status, headers, credential,
                                  received_at, observed_at, taken_at, status, accepted, hash, run_id)
     select answer_id, position - 1, $1, $2, request, http_status, headers::jsonb, credential,
            received_at, $3, $4, $5, $6, hash, $7
       from numbered, unnest($8::text[], $9::int[], $10::text[], $11::text[], $12::timestamptz[], $13::bytea[])
              with ordinality as said(request, http_status, headers, credential, received_at, hash, position)`,
    [
      resource,
      key,
      observedAt,
      takenAt,
      status,
      accepted,
      runId,
      heard.map((one) => lineOf(one)),
      heard.map(({ outcome }) => outcome.status),
      heard.map(({ outcome }) => JSON.stringify(tellingHeaders(outcome.headers))),
      heard.map(({ credential }) => credential),
      heard.map(({ outcome }) => new Date(outcome.receivedAt)),
      hashes,
    ],
  )
}

/** Whether the same answer was kept before: the service keeps one copy for a while, and gives it to everybody. */
async function isCopy(
  sql: Sql,
  { resource, key, observedAt }: { resource: string; key: string | null; observedAt: Date },
  hashes: readonly Buffer[],
): Promise<boolean> {
  const rows = await sql.query(
    `select from sync.raw_answer
      where resource = $1 and (key = $2 or ($2 is null and key is null)) and observed_at = $3
      group by answer_id having array_agg(hash order by position) = $4::bytea[] limit 1`,
    [resource, key, observedAt, hashes],
  )
  return rows.length > 0
}

async function keepBodies(sql: Sql, texts: readonly Uint8Array[], hashes: readonly Buffer[], at: Date): Promise<void> {
  const known = await sql.query<{ hash: Uint8Array }>('select hash from sync.raw_body where hash = any($1::bytea[])', [
    hashes,
  ])
  const there = new Set(known.map(({ hash }) => Buffer.from(hash).toString('hex')))
  const fresh = texts.flatMap((text, index) => {
    const hash = hashes[index]
    return hash && !there.has(hash.toString('hex')) ? [{ text, hash }] : []
  })
  if (fresh.length === 0) return
  const bodies = await Promise.all(fresh.map(({ text }) => compressed(text)))
  await sql.query(
    `insert into sync.raw_body (hash, body, bytes, first_at)
     select hash, body, bytes, $4 from unnest($1::bytea[], $2::bytea[], $3::int[]) as fresh(hash, body, bytes)
     on conflict (hash) do nothing`,
    [fresh.map(({ hash }) => hash), bodies, fresh.map(({ text }) => text.length), at],
  )
}
