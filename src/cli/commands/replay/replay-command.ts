import { createClient } from '../../../api/client.ts'
import { offline } from '../../../api/recordings/recorded.ts'
import { migrateDatabase, openDatabase } from '../../../app/app.ts'
import { engineOf } from '../../../app/app-api.ts'
import { FatalError } from '../../../app/errors.ts'
import { visibleLine } from '../../../app/terminal-text.ts'
import { resourcesNamed } from '../../../resources/index.ts'
import { type Replayed, replay } from '../../../sync/replay/replay.ts'
import { type Context, exitCode } from '../../context.ts'
import { formatTable } from '../../output/table.ts'

/** Flags of `replay`. */
export interface ReplayFlags {
  readonly yes?: boolean
  readonly keep?: boolean
}

/** `replay [resource...]`: makes tables anew from the raw answers. Returns the exit code. */
export async function replayCommand(names: readonly string[], flags: ReplayFlags, context: Context): Promise<number> {
  const { app, signal, progress } = context
  const resources = resourcesNamed(names)
  const db = await openDatabase(app, ['replay'])
  try {
    await migrateDatabase(db, app)
    progress.begin('replay')
    // Every answer was told about when it came; only what cannot be done now is told again.
    const silent = () => {}
    const log = { debug: silent, info: silent, warn: silent, error: app.log.error.bind(app.log) }
    const replayed = await replay(
      { ...engineOf(app, db, nobody()), log },
      {
        resources,
        swap: flags.yes ?? false,
        keep: flags.keep ?? false,
        signal,
        onProgress: (done, of) =>
          progress.seen('replay', { page: done, pages: of, records: done, count: of }, 'answers'),
      },
    )
    progress.end()
    return tell(replayed, names, context)
  } finally {
    progress.end()
    await db.close()
  }
}

/** An API that nobody asks. */
function nobody() {
  return createClient({
    transport: offline(async () => {
      throw new FatalError('a replay asks nobody')
    }),
  })
}

function tell(replayed: Replayed, names: readonly string[], { out, flags }: Context): number {
  const { status, resources, lost, tables, swapped, answers } = replayed
  // Who names none means those that can be replayed.
  const refused = resources.filter((one) => !one.isReplayed && (names.length > 0 || one.from !== null))
  if (flags.json) out.write(`${JSON.stringify(replayed)}\n`)
  else if (!flags.quiet) {
    if (status === 'skipped') out.write('another replay is running\n')
    for (const one of refused) out.write(`${one.resource}: ${refusal(one)}\n`)
    if (tables.length > 0) {
      out.write(
        formatTable(
          ['table', 'only before', 'only after', 'equal'],
          tables.map((one) => ({ ...one, 'only before': one.onlyBefore, 'only after': one.onlyAfter })),
        ),
      )
    }
    for (const message of lost) out.write(`cannot be read any more: ${visibleLine(message)}\n`)
    if (answers > 0) out.write(`${answers} answers; ${outcome(replayed)}\n`)
  }
  if (names.length > 0 && refused.length > 0) return exitCode.failed
  return lost.length > 0 || (swapped === false && answers === 0 && refused.length > 0)
    ? exitCode.rejected
    : exitCode.done
}

function outcome({ swapped, lost, tables }: Replayed): string {
  if (swapped) return 'the tables hold what was made'
  if (lost.length > 0) return 'nothing was changed, for what they told would be lost'
  if (tables.every((one) => one.onlyBefore + one.onlyAfter === 0)) return 'nothing differs'
  return 'nothing was changed; --yes puts it in place'
}

function refusal({ from, missing }: Replayed['resources'][number]): string {
  if (from === null) return 'left alone, no raw answers of it are kept'
  const since = missing && missing > from ? missing : from
  return `left alone: its tables hold more than its raw answers tell, which are whole only after ${since.toISOString()}`
}
