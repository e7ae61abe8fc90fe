import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.ts'
import { connect } from '../../src/db/connect.ts'
import type { Database } from '../../src/db/database.ts'
import { ended, type Finished, runNode, startNode } from './child.ts'
import { median } from './measure.ts'

interface SyncBench {
  readonly program: string
  /** Where embedded databases are made. */
  readonly folder: string
  readonly rounds: number
  createDatabase(name: string): Promise<string>
}

/** One database of the bench: how a child is told of it, and how it is opened here. */
interface Place {
  readonly kind: Database['kind']
  readonly variables: Record<string, string>
  open(): Promise<Database>
}

/** `migrate`, a first and a second `sync items` as processes of their own, on both kinds of database. */
export async function measureSync(bench: SyncBench) {
  const sandbox = await startSandbox(bench.program)
  try {
    return [
      ...(await measureKind(bench, sandbox.url, (nth) => serverPlace(bench, nth))),
      ...(await measureKind(bench, sandbox.url, (nth) => embeddedPlace(join(bench.folder, `sync-${nth}`)))),
    ]
  } finally {
    await sandbox.stop()
  }
}

async function measureKind(
  { program, rounds, folder }: SyncBench,
  baseUrl: string,
  placeOf: (nth: number) => Promise<Place>,
) {
  const [creations, firsts, seconds]: [Finished[], Finished[], Finished[]] = [[], [], []]
  let written = { created: 0, first: 0, second: 0 }
  let kind: Database['kind'] = 'server'
  for (let nth = 0; nth < rounds; nth++) {
    const place = await placeOf(nth)
    kind = place.kind
    const sync = () =>
      runNode([program, 'sync', 'items', '--json', '--log-level', 'warn'], {
        ...place.variables,
        WYNNSYNC_BASE_URL: baseUrl,
      })
    const prepared = nth > 0 && kind === 'embedded'
    if (prepared) await cp(join(folder, 'created'), join(folder, `sync-${nth}`), { recursive: true })
    else creations.push(await runNode([program, 'migrate'], place.variables))
    if (nth === 0 && kind === 'embedded') {
      await cp(join(folder, 'sync-0'), join(folder, 'created'), { recursive: true })
    }
    // Counting opens the database, so it is done in one round only; the rows are the same in all.
    const counted = async () => (nth === 0 ? await countRows(place) : 0)
    const created = await counted()
    firsts.push(await sync())
    const first = await counted()
    seconds.push(await sync())
    const second = await counted()
    if (nth === 0) written = { created: 0, first: first - created, second: second - first }
  }
  return [
    line(kind, kind === 'embedded' ? 'create and migrate' : 'migrate', creations, written.created),
    line(kind, 'first sync items', firsts, written.first),
    line(kind, 'second sync items', seconds, written.second),
  ]
}

function line(database: string, what: string, runs: readonly Finished[], rows: number) {
  return {
    database,
    what,
    'wall ms': Math.round(median(runs.map(({ wallMs }) => wallMs))),
    'cpu ms': Math.round(median(runs.map(({ cpuMs }) => cpuMs))),
    'peak MB': Math.round(median(runs.map(({ peakMb }) => peakMb))),
    'rows written': rows,
  }
}

async function serverPlace({ createDatabase }: SyncBench, nth: number): Promise<Place> {
  const url = await createDatabase(`sync_${nth}`)
  return {
    kind: 'server',
    variables: { DATABASE_URL: url },
    open: () => connect({ databaseUrl: url, dataDir: '', clock: systemClock }),
  }
}

async function embeddedPlace(dataDir: string): Promise<Place> {
  return {
    kind: 'embedded',
    variables: { WYNNSYNC_DATA_DIR: dataDir },
    open: () => connect({ dataDir, clock: systemClock }),
  }
}

/** Rows of all tables of the program. It never removes one here, so the difference is what was written. */
async function countRows(place: Place): Promise<number> {
  const db = await place.open()
  try {
    const tables = await db.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('game', 'sync')`,
    )
    const counts = tables.map(({ name }) => `(select count(*) from ${name})`)
    const [row] = await db.query<{ rows: number }>(`select ${counts.join(' + ')} as rows`)
    return row?.rows ?? 0
  } finally {
    await db.close()
  }
}

/** The stand-in of the API in a process of its own: its work is not in the figures. */
export async function startSandbox(program: string): Promise<{ url: string; stop(): Promise<void> }> {
  const child = startNode([program, 'sandbox', '--port', '0', '--json'], {})
  const finished = ended(child)
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (said: Buffer) => resolve((JSON.parse(said.toString()) as { url: string }).url))
    finished.then((code) => reject(new Error(`the sandbox ended with ${code}`)), reject)
  })
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      await finished
    },
  }
}
