import { createClient } from '../../../api/client.ts'
import { offline } from '../../../api/http/transport.ts'
import { engineOf } from '../../../app/app-api.ts'
import { FatalError } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Database } from '../../../db/database.ts'
import { resourcesNamed } from '../../../resources/index.ts'
import { type Replayed, replay } from '../../../sync/replay/replay.ts'
import { type Context, withDatabase, writeSummary } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { formatTable } from '../../output/table.ts'

interface ReplayFlags {
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly keep?: boolean
}

/** `replay [resource...]`: rebuilds tables from the archive. Returns the exit code. */
export async function replayCommand(context: Context, flags: ReplayFlags, names: readonly string[]): Promise<number> {
  const { app, signal, progress } = context
  const resources = resourcesNamed(names)
  const work = async (db: Database) => {
    progress.begin('replay')
    // Each response was logged when it came; only what cannot be replayed is logged again.
    const silent = () => {}
    const log = { debug: silent, info: silent, warn: silent, error: app.log.error.bind(app.log) }
    return await replay(
      { ...engineOf(app, db, offlineApi()), log },
      {
        resources,
        swap: flags.yes === true && flags.dryRun !== true,
        keep: flags.keep ?? false,
        signal,
        onProgress: (records, count) => {
          progress.seen('replay', { records, count }, 'responses')
          if (records === count) progress.begin('replay, comparing the tables')
        },
      },
    )
  }
  const replayed = await withDatabase(context, 'replay', work, { access: 'change', alone: true }).finally(() =>
    progress.end(),
  )
  // Without names, only what can be replayed is meant.
  const refused = replayed.resources.filter(
    (resource) => !resource.isReplayed && (names.length > 0 || resource.from !== null),
  )
  writeSummary(context, replayed, textOf(replayed), failuresOf(replayed, refused))
  if (names.length > 0 && refused.length > 0) return exitCode.failed
  const { lost, swapped, answers } = replayed
  return lost.length > 0 || (swapped === false && answers === 0 && refused.length > 0)
    ? exitCode.rejected
    : exitCode.done
}

function offlineApi() {
  return createClient({
    transport: offline(async () => {
      throw new FatalError('a replay sends no requests')
    }),
  })
}

type Refused = Replayed['resources'][number]

/** What cannot be replayed. */
function failuresOf({ lost }: Replayed, refused: readonly Refused[]): string {
  return [
    ...refused.map((resource) => `${resource.resource}: ${refusal(resource)}\n`),
    ...lost.map((message) => `cannot be read any more: ${visibleLine(message)}\n`),
  ].join('')
}

function textOf(replayed: Replayed): string {
  const { status, tables, answers } = replayed
  const rows = tables.map((table) => ({ ...table, 'only before': table.onlyBefore, 'only after': table.onlyAfter }))
  return [
    status === 'skipped' ? 'another replay is running\n' : '',
    rows.length > 0 ? formatTable(['table', 'only before', 'only after', 'equal'], rows) : '',
    answers > 0 ? `${answers} responses; ${outcome(replayed)}\n` : '',
  ].join('')
}

function outcome({ swapped, lost, tables }: Replayed): string {
  if (swapped) return 'the tables are replaced by the rebuilt ones'
  if (lost.length > 0) return 'nothing was changed, because rows would be lost'
  if (tables.every((table) => table.onlyBefore + table.onlyAfter === 0)) return 'nothing differs'
  return 'nothing was changed; --yes replaces the tables'
}

function refusal({ from, missing }: Refused): string {
  if (from === null) return 'left alone, it has no archive'
  const since = missing && missing > from ? missing : from
  return `left alone: its tables hold more than its archive, which is complete only after ${since.toISOString()}`
}
