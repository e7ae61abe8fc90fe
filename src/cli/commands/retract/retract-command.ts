import { resolve } from 'node:path'
import { UsageError } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Database, Sql } from '../../../db/database.ts'
import { resources } from '../../../resources/index.ts'
import type { Resource, Worklist } from '../../../sync/declare/resource.ts'
import { type Retracted, type Retraction, retractResource } from '../../../sync/retract/retract.ts'
import { findSource, forgetSource, type Source } from '../../../sync/retract/sources.ts'
import { withoutSyncsOf } from '../../../sync/run/without-syncs.ts'
import { type ConsentFlags, consent } from '../../ask.ts'
import { type Context, rolledBack, withDatabase, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { instantFlag } from '../../options.ts'
import { formatTable } from '../../output/table.ts'

interface RetractFlags extends ConsentFlags {
  readonly from?: string
  readonly to?: string
}

/** What is retracted, of which resources. */
interface Wanted {
  readonly what: Retracted
  readonly resources: readonly (Resource | Worklist)[]
  /** Undefined: a period. */
  readonly source?: Source
}

const command = 'retract'

/** `retract <source>`: takes back an import or a period, and shows first what that comes to. Returns the exit code. */
export async function retractCommand(context: Context, flags: RetractFlags, name: string): Promise<number> {
  const { dryRun = false } = flags
  const period = periodOf(context, flags, name)
  const work = async (isRehearsal: boolean) =>
    await withDatabase(
      context,
      command,
      async (db) => {
        const wanted = period ?? (await ofSource(db, name))
        return { wanted, done: await retractAll(db, wanted, isRehearsal, context) }
      },
      { access: 'change', alone: true },
    )
  const rehearsal = dryRun || !flags.yes ? await work(true) : undefined
  if (rehearsal && !dryRun) {
    context.err.write(textOf(rehearsal.done))
    await consent(context, flags, { command, question: `Take back all that came of ${visibleLine(name)}?` })
  }
  const { wanted, done } = dryRun && rehearsal ? rehearsal : await work(false)
  const total = dryRun ? 'nothing was changed\n' : 'taken back\n'
  const { sourceId = null, kind = 'period', place = name } = wanted.source ?? {}
  writeSummary(context, { source: place, sourceId, kind, dryRun, resources: done }, textOf(done) + total)
  return exitCode.done
}

/** The period of a resource, where one is named. @throws UsageError when its bounds are missing or inverted */
function periodOf({ app }: Context, { from, to }: RetractFlags, name: string): Wanted | undefined {
  const resource = resources.find((one) => one.name === name)
  const bounds = [instantFlag('--from', from, app), instantFlag('--to', to, app)] as const
  if (!resource) {
    if (bounds.some(Boolean)) throw new UsageError(`--from and --to belong to a resource, and ${name} is none`)
    return undefined
  }
  const [begin, end] = bounds
  if (!begin || !end) throw new UsageError(`the period of ${name} needs --from and --to`)
  if (begin >= end) throw new UsageError(`--from must lie before --to, got ${from} and ${to}`)
  return { what: { from: begin, to: end }, resources: [resource] }
}

async function ofSource(db: Database, name: string): Promise<Wanted> {
  const source = await findSource(db, [name, name.replace(/\/\/[^/@]*@/, '//'), resolve(name)])
  return { what: { sourceId: source.sourceId, isLake: source.kind === 'lake' }, resources, source }
}

/** Retracts of one resource after the other, each in a transaction; a call that is interrupted goes on with those that are left. */
async function retractAll(
  db: Database,
  { what, resources, source }: Wanted,
  isRehearsal: boolean,
  { app, signal, progress }: Context,
): Promise<readonly Retraction[]> {
  const done: Retraction[] = []
  progress.begin(command)
  try {
    for (const [nth, resource] of resources.entries()) {
      signal.throwIfAborted()
      progress.seen(command, { records: nth, count: resources.length }, 'resources')
      const work = (sql: Sql) => retractResource(sql, resource, what)
      const retraction = await withoutSyncsOf(db, [resource.name], { clock: app.clock, signal }, () =>
        isRehearsal ? rolledBack(db, work) : db.transaction(work),
      )
      if (retraction) done.push(retraction)
    }
  } finally {
    progress.end()
  }
  if (source && !isRehearsal) await db.transaction((sql) => forgetSource(sql, source.sourceId))
  return done
}

function textOf(done: readonly Retraction[]): string {
  if (done.length === 0) return 'no response of it is left\n'
  const rows = done.flatMap(({ resource, responses, first, last, tables }) => [
    { resource, what: 'responses', removed: responses, changed: 0, from: first.toISOString(), to: last.toISOString() },
    ...tables.map(({ table, removed, changed }) => ({ resource, what: table, removed, changed, from: '', to: '' })),
  ])
  return formatTable(['resource', 'what', 'removed', 'changed', 'from', 'to'], rows)
}
