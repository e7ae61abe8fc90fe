import { isUtf8 } from 'node:buffer'
import { type Api, createClient } from '../../api/client.ts'
import { classifyResponse, faultError } from '../../api/http/classify-response.ts'
import { lineOf } from '../../api/http/http-exchange.ts'
import type { Outcome } from '../../api/http/outcome.ts'
import { offline } from '../../api/recordings/recorded.ts'
import { toApiResponse } from '../../api/response.ts'
import { revealRedacted } from '../../api/schemas/people/redacted.ts'
import { RecordError } from '../../app/errors.ts'
import type { Sql } from '../../db/database.ts'
import { decompressed } from './bodies.ts'

/** A raw answer as it was kept, with everything that was said to the requests it took. */
export interface KeptAnswer {
  readonly answerId: number
  readonly resource: string
  readonly key: string | null
  readonly runId: string
  readonly takenAt: Date
  /** What it came to when it was taken in. */
  readonly status: string
  readonly accepted: boolean
  readonly said: readonly Said[]
}

interface Said {
  readonly request: string
  readonly httpStatus: number
  readonly headers: Readonly<Record<string, string>>
  readonly receivedAt: Date
  readonly body: Uint8Array
}

/** A request that was not made when the answer was kept. */
export class NotKept extends RecordError {}

/** How many raw answers of these resources there are after one. */
export async function countAnswers(sql: Sql, resources: readonly string[], after: number): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    'select count(*) as n from sync.raw_answer where resource = any($1::text[]) and answer_id > $2 and position = 0',
    [resources, after],
  )
  return row?.n ?? 0
}

/** The next raw answers of these resources in the order in which they were taken in. */
export async function nextAnswers(
  sql: Sql,
  resources: readonly string[],
  after: number,
  limit: number,
): Promise<KeptAnswer[]> {
  const rows = await sql.query<Omit<KeptAnswer, 'said'> & Said>(
    `with next as materialized (
       select answer_id from sync.raw_answer
        where resource = any($1::text[]) and answer_id > $2 and position = 0 order by answer_id limit $3)
     select answer_id as "answerId", resource, key, run_id as "runId", taken_at as "takenAt", status, accepted,
            request, http_status as "httpStatus", headers, received_at as "receivedAt", body
       from next join sync.raw_answer using (answer_id) join sync.raw_body using (hash)
      order by answer_id, position`,
    [resources, after, limit],
  )
  const answers = new Map<number, KeptAnswer & { said: Said[] }>()
  for (const { request, httpStatus, headers, receivedAt, body, ...answer } of rows) {
    const one = answers.get(answer.answerId) ?? { ...answer, said: [] }
    one.said.push({ request, httpStatus, headers, receivedAt, body })
    answers.set(answer.answerId, one)
  }
  return [...answers.values()]
}

/**
 * A client that says again what the API said then. A request that was made more than once is answered in the order of
 * then; one that was not made throws NotKept.
 */
export function apiOf({ said }: KeptAnswer): Api {
  const waiting = new Map<string, Said[]>()
  for (const one of said) waiting.set(one.request, [...(waiting.get(one.request) ?? []), one])
  return createClient({
    transport: offline(async (request) => {
      const line = lineOf({ request })
      const answers = waiting.get(line)
      const [next] = answers ?? []
      if (!answers || !next) throw new NotKept(`${line} was not asked then`)
      if (answers.length > 1) answers.shift()
      const outcome = await outcomeOf(next)
      const fault = classifyResponse(outcome)
      if (fault !== null) throw faultError(fault, outcome, request.path, 1)
      return toApiResponse(outcome, 1)
    }),
  })
}

async function outcomeOf({ httpStatus, headers, receivedAt, body }: Said): Promise<Outcome> {
  const text = await decompressed(body)
  if (!isUtf8(text)) throw new RecordError('the archived body holds bytes that are not UTF-8')
  return {
    status: httpStatus,
    headers: new Map(Object.entries(headers)),
    body: revealRedacted(JSON.parse(text.toString('utf8'))),
    failure: null,
    seen: '',
    bytes: text.length,
    receivedAt: receivedAt.getTime(),
  }
}
