import { isUtf8 } from 'node:buffer'
import { and, eq, gt, ne } from 'drizzle-orm'
import { type Api, createClient } from '../../api/client.ts'
import { Unavailable } from '../../api/errors.ts'
import { classifyResponse, faultError } from '../../api/http/classify-response.ts'
import { lineOf } from '../../api/http/http-exchange.ts'
import { emptyOutcome, type Outcome } from '../../api/http/outcome.ts'
import { offline } from '../../api/http/transport.ts'
import { toApiResponse } from '../../api/response.ts'
import { revealRedacted } from '../../api/schemas/people/redacted.ts'
import { RecordError } from '../../base/errors.ts'
import { parseJsonBytes } from '../../base/text/decode.ts'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import { sha256 } from '../normalize/hash.ts'
import { rawAnswer } from '../tables/archive.ts'
import { STORED_BODY, type StoredBody, textOfBody } from './bodies.ts'

/** An archived response with all exchanges that it took. */
export interface ArchivedResponse {
  readonly answerId: number
  readonly resource: string
  readonly key: string | null
  readonly runId: string
  readonly takenAt: Date
  /** The instant that it speaks for; null when it was refused, or the clocks did not tell. */
  readonly observedAt: Date | null
  /** Its outcome when it was loaded. */
  readonly status: string
  readonly accepted: boolean
  /** Whether it had all there is, of a resource with one response; null: not known. */
  readonly complete: boolean | null
  readonly exchanges: readonly ArchivedExchange[]
}

interface ArchivedExchange extends StoredBody {
  readonly request: string
  readonly httpStatus: number
  readonly headers: Readonly<Record<string, string>>
  readonly receivedAt: Date
}

/** A request that was not sent when the response was archived. */
export class NotArchived extends RecordError {}

/** How many archived responses of these resources there are after one. */
export async function countArchived(sql: Sql, resources: readonly string[], after: number): Promise<number> {
  const { resource, answerId, position, status } = rawAnswer
  return await typed(sql).$count(
    rawAnswer,
    and(anyOf(resource, resources), gt(answerId, after), eq(position, 0), ne(status, 'retracted')),
  )
}

/** The next archived responses of these resources in the order in which they were loaded. */
export async function nextArchived(
  sql: Sql,
  resources: readonly string[],
  after: number,
  limit: number,
): Promise<ArchivedResponse[]> {
  const rows = await sql.query<Omit<ArchivedResponse, 'exchanges'> & ArchivedExchange>(
    `with next as materialized (
       select answer_id from sync.raw_answer
        where resource = any($1::text[]) and answer_id > $2 and position = 0 and status <> 'retracted' order by answer_id limit $3)
     select answer_id as "answerId", resource, key, run_id as "runId", taken_at as "takenAt", observed_at as "observedAt", status, accepted,
            (select run.complete from sync.run where run.run_id = raw_answer.run_id) as complete,
            request, http_status as "httpStatus", headers, received_at as "receivedAt", ${STORED_BODY.columns}
       from next join sync.raw_answer using (answer_id) join sync.raw_body using (hash) ${STORED_BODY.join}
      order by answer_id, position`,
    [resources, after, limit],
  )
  const responses = new Map<number, ArchivedResponse & { exchanges: ArchivedExchange[] }>()
  for (const { request, httpStatus, headers, receivedAt, hash, body, baseBody, ...response } of rows) {
    const archived = responses.get(response.answerId) ?? { ...response, exchanges: [] }
    archived.exchanges.push({ request, httpStatus, headers, receivedAt, hash, body, baseBody })
    responses.set(response.answerId, archived)
  }
  return [...responses.values()]
}

/** The combat levels that were asked for then, in their order. */
export function levelsOf({ exchanges }: Pick<ArchivedResponse, 'exchanges'>): number[] {
  const asked = exchanges.flatMap(({ request }) => /[?&]level=(\d+)/.exec(request)?.[1] ?? [])
  return [...new Set(asked.map(Number))]
}

/**
 * A client that returns the archived responses. A request that was sent more than once returns them in their order; one that
 * was not sent throws NotArchived.
 * @param isPart whether some requests failed then: one that has no response in the archive did
 */
export function clientOf({ exchanges }: ArchivedResponse, { isPart = false } = {}): Api {
  const waiting = new Map<string, ArchivedExchange[]>()
  for (const one of exchanges) waiting.set(one.request, [...(waiting.get(one.request) ?? []), one])
  return createClient({
    transport: offline(async (request) => {
      const line = lineOf({ request })
      const answers = waiting.get(line)
      const [next] = answers ?? []
      if ((!answers || !next) && isPart) throw new Unavailable(`${line} had no response then`)
      if (!answers || !next) throw new NotArchived(`${line} was not sent then`)
      if (answers.length > 1) answers.shift()
      const outcome = await outcomeOf(next)
      const fault = classifyResponse(outcome)
      if (fault !== null) throw faultError(fault, outcome, request.path, 1)
      return toApiResponse(outcome, 1)
    }),
  })
}

async function outcomeOf({ httpStatus, headers, receivedAt, ...stored }: ArchivedExchange): Promise<Outcome> {
  const text = await textOfBody(stored).catch(() => undefined)
  if (text === undefined) throw damaged(stored)
  const outcome = {
    ...emptyOutcome(receivedAt.getTime()),
    status: httpStatus,
    headers: new Map(Object.entries(headers)),
    bytes: text.length,
  }
  if (!isUtf8(text))
    return { ...outcome, failure: 'not utf-8', reason: 'the archived body holds bytes that are not UTF-8' }
  if (!sha256(text).equals(stored.hash)) throw damaged(stored)
  try {
    return { ...outcome, body: revealRedacted(parseJsonBytes(text)) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { ...outcome, failure: 'not json', reason: 'the archived body is not JSON' }
  }
}

function damaged({ hash }: StoredBody): RecordError {
  const name = Buffer.from(hash).toString('hex').slice(0, 12)
  return new RecordError(
    `the archived body ${name} is damaged: \`wynnsync verify\` finds all such, a backup may have it whole`,
  )
}
