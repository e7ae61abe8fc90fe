import { migrateDatabase, openDatabase } from '../app.ts'
import { resources } from '../resources/index.ts'
import { readStates } from '../sync/recent-runs.ts'
import { type Context, exitCode } from './context.ts'
import { formatTable } from './table.ts'

const columns = ['resource', 'last run', 'finished', 'observed', 'last change', 'records', 'quarantined'] as const

/** `status`: how fresh each resource is and how its last run went. Returns the exit code. */
export async function statusCommand({ app, out, flags }: Context): Promise<number> {
  const db = await openDatabase(app, ['status'])
  try {
    await migrateDatabase(db, app)
    const states = await readStates(
      db,
      resources.map((resource) => resource.name),
    )
    if (flags.json) out.write(`${JSON.stringify({ database: db.place, resources: states })}\n`)
    else {
      const rows = states.map((state) => ({
        ...state,
        'last run': state.status ?? 'never',
        finished: ago(state.finishedAt, app.clock.now()),
        observed: ago(state.observedAt, app.clock.now()),
        'last change': ago(state.changedAt, app.clock.now()),
        records: state.living,
      }))
      out.write(`database ${db.place}\n\n${formatTable(columns, rows)}`)
      for (const { resource, error } of states) if (error) out.write(`\n${resource}: ${error}\n`)
      if (states.every((state) => state.status === null))
        out.write('\nNothing was synced yet. Start with: wynnsync sync items\n')
    }
    return exitCode.done
  } finally {
    await db.close()
  }
}

function ago(instant: Date | null, now: number): string {
  if (!instant) return ''
  const seconds = Math.round((now - instant.getTime()) / 1000)
  if (seconds < 0) return instant.toISOString().slice(0, 16).replace('T', ' ')
  if (seconds < 120) return `${seconds} s ago`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h ago` : `${Math.round(seconds / 86_400)} days ago`
}
