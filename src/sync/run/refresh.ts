import { ApiError, Forbidden, NotFound, Unavailable } from '../../api/errors.ts'
import type { HttpExchange } from '../../api/http/http-exchange.ts'
import { answersIn, archiveResponse, type RecordingClient, recordResponses } from '../archive/archive.ts'
import { reshaped } from '../drift/shape-changes.ts'
import type { Engine } from '../engine.ts'
import { prepare } from '../normalize/prepare.ts'
import { appendDrift } from '../record/ledger.ts'
import type { ExtractOptions, Worklist } from '../resource.ts'
import type { LastSaid } from '../validate/guard-actions.ts'
import { type IngestResult, ingestKey, type Reply } from './ingest-key.ts'
import { reportDrift } from './report-run.ts'
import { logOfRun } from './run-log.ts'

/**
 * Asks for one key of a worklist and takes the answer in.
 * @param said what guards said in this run, where a run may ask for a key more than once
 * @throws RetryableError when there is no answer; what came but was not understood is kept among the raw answers
 */
export async function refresh(
  resource: Worklist,
  engine: Engine,
  runId: string,
  key: string,
  options: ExtractOptions,
  said: LastSaid = new Map(),
): Promise<IngestResult> {
  const log = logOfRun(engine.log, { resource: resource.name, runId })
  const ear = recordResponses(engine)
  const reply = await ask(resource, ear, key, options).catch(async (error: unknown) => {
    await keepUnread(resource, engine, { runId, key, heard: answersIn(ear), error })
    throw error
  })
  const outcome = await ingestKey(resource, engine, { runId, key, reply, heard: ear.heard, said })
  for (const { guard, action, reason } of outcome.guarded) {
    said.set(`${key} ${guard}`, reason)
    log.info({ guard, action, key }, `${guard}: ${reason}`)
  }
  reportDrift(log, outcome.drift)
  return outcome
}

async function ask(resource: Worklist, { api }: RecordingClient, key: string, options: ExtractOptions): Promise<Reply> {
  try {
    const extraction = await resource.extractOne(api, key, options)
    return { kind: 'answer', extraction, preparation: prepare(resource, extraction.records, extraction) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return replyOf(error)
  }
}

/** @throws the error itself when it is about something else than the key; Unavailable for 403 and 404 of another kind */
function replyOf(error: ApiError): Reply {
  const { message: reason, respondedAt, status } = error
  if (error instanceof Forbidden && error.kind === 'Forbidden') return { kind: 'hidden', reason, respondedAt }
  if (error instanceof NotFound) return { kind: 'gone', reason, respondedAt }
  if (status === 403 || status === 404) throw new Unavailable(reason, { context: error.context, cause: error })
  throw error
}

/** What could not be understood today may be tomorrow, by `replay`. */
async function keepUnread(
  resource: Worklist,
  engine: Engine,
  { runId, key, heard, error }: { runId: string; key: string; heard: readonly HttpExchange[]; error: unknown },
) {
  const novelties = reshaped(error, key)
  if (heard.length + novelties.length === 0) return
  const { db, clock } = engine
  const log = logOfRun(engine.log, { resource: resource.name, runId })
  const taken = { resource: resource.name, key, runId, takenAt: new Date(clock.now()), observedAt: null }
  await db
    .transaction(async (sql) => {
      await archiveResponse(sql, heard, { ...taken, personal: resource.personal, status: 'failed' })
      reportDrift(log, await appendDrift(sql, { ...taken, at: taken.takenAt }, novelties))
    })
    .catch((cause: unknown) => log.warn({ err: cause }, 'an answer that was not understood could not be kept'))
}
