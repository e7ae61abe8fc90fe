import { FatalError } from '../../../app/errors.ts'
import type { Engine } from '../../../sync/engine.ts'
import type { Resource, Worklist } from '../../../sync/resource.ts'
import { runResource } from '../../../sync/run/run.ts'
import { failedResult, type RunResult } from '../../../sync/run/run-result.ts'
import { createBackoff } from '../../../sync/schedule/backoff.ts'
import type { Context } from '../../context.ts'
import { keyCount, sourceOf } from './backfill-price.ts'

/** Puts the keys on the worklist; when there are none, first asks for the list that names them. */
export async function fillWorklist(resource: Worklist, engine: Engine, context: Context): Promise<void> {
  const { db, clock, log } = engine
  const { signal } = context
  const source = sourceOf(resource)
  const backoff = createBackoff({ first: 1000, longest: 60_000 }, context.app.random)
  await resource.plan(db, new Date(clock.now()))
  if ((await keyCount(db, resource)) > 0) return
  log.info({ resource: resource.name }, `nothing on the list yet: asking for ${source.name} first`)
  for (;;) {
    signal.throwIfAborted()
    const run = await runResource(source, engine, { signal })
    if (run.status === 'failed' && !run.temporary) throw new FatalError(`${source.name}: ${run.error}`)
    await resource.plan(db, new Date(clock.now()))
    if (run.observedAt !== null && run.status !== 'rejected') return
    if ((await keyCount(db, resource)) > 0) return
    const wait = backoff.failed()
    log.warn({ resource: source.name }, `${run.error ?? run.status}; trying again in ${Math.round(wait / 1000)} s`)
    await clock.sleep(wait, signal)
  }
}

/** One walk from the first page to the last; after an outage again from the start, since unchanged pages write nothing. */
export async function walkPages(resource: Resource, engine: Engine, context: Context): Promise<RunResult> {
  const { clock, log } = engine
  const { app, signal, progress } = context
  const backoff = createBackoff({ first: 1000, longest: 60_000 }, app.random)
  for (;;) {
    const run = await runResource(resource, engine, {
      walk: true,
      lane: 'backfill',
      signal,
      onProgress: (seen) => progress.seen(resource.name, seen),
    }).catch((error: unknown) => failedResult(resource.name, error))
    if (run.status !== 'failed' || !run.temporary || signal.aborted) return run
    const wait = backoff.failed()
    log.warn({ resource: resource.name }, `${run.error}; trying again in ${Math.round(wait / 1000)} s`)
    await clock.sleep(wait, signal).catch(() => undefined)
    if (signal.aborted) return run
  }
}
