import { rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { type App, createApp, engineOf, migrateDatabase, openApi, openDatabase } from '../app.ts'
import { virtualClock } from '../clock.ts'
import type { Database } from '../db/database.ts'
import { FatalError } from '../errors.ts'
import { resources } from '../resources/index.ts'
import { createItemWorld, type ItemWorld, patchItems, type Sandbox, startSandbox } from '../sandbox/index.ts'
import { runResource } from '../sync/run.ts'
import { type Context, exitCode } from './context.ts'
import { formatTable } from './table.ts'

export interface DemoFlags {
  readonly seed?: string
}

const DAY = 86_400_000

/** `demo`: a simulated API, an embedded database in a temporary folder, and some answers. Returns the exit code. */
export async function demoCommand({ seed: seedText = '1' }: DemoFlags, context: Context): Promise<number> {
  const { out, progress } = context
  const seed = Number(seedText)
  const folder = join(tmpdir(), `wynnsync-demo-${userInfo().uid}`)
  await rm(folder, { recursive: true, force: true })
  const clock = virtualClock(Date.UTC(2026, 4, 1, 8), { auto: true })
  const world = createItemWorld(seed)
  const sandbox = await startSandbox({ clock, seed, items: world })
  const config = {
    ...context.app.config,
    baseUrl: sandbox.url,
    databaseUrl: undefined,
    dataDir: folder,
    token: undefined,
  }
  const app = createApp(config, { clock, logLevel: 'error' })
  out.write(`A simulated API at ${sandbox.url}, an embedded Postgres in ${folder}.\n\n`)
  const db = await openDatabase(app, ['demo'])
  try {
    await migrateDatabase(db, app)
    const days = { app, db, sandbox, context }
    out.write('Day 1: everything arrives.\n')
    await syncDay(days)
    out.write('Day 2: nothing changed, so nothing but the ledger is written.\n')
    await nextDay(sandbox, world)
    await syncDay(days)
    out.write('Day 3: the game is patched.\n')
    await nextDay(sandbox, patchItems(world, seed, 40))
    await syncDay(days)
    out.write('Day 4: what two complete answers lack is believed to be gone.\n')
    await sandbox.clock.moveTo(sandbox.clock.now() + DAY)
    await syncDay(days)
    await showAnswers(db, out)
  } finally {
    progress.end()
    await db.close()
    await sandbox.close()
  }
  out.write(whatNext(folder))
  return exitCode.done
}

/** The world of the next day, once every copy of the day before has expired. */
async function nextDay(sandbox: Sandbox, world: ItemWorld): Promise<void> {
  sandbox.setItemWorld(world)
  await sandbox.clock.moveTo(sandbox.clock.now() + DAY)
}

/** One sync of everything, shown as it goes. */
async function syncDay(days: { app: App; db: Database; sandbox: Sandbox; context: Context }): Promise<void> {
  const { app, db, context } = days
  const api = openApi(app)
  try {
    for (const resource of resources) {
      context.progress.begin(resource.name)
      const started = performance.now()
      const run = await runResource(resource, engineOf(app, db, api))
      context.progress.end()
      if (run.status === 'failed') throw new FatalError(`${resource.name}: ${run.error}`)
      const { records, inserted, changed, closed } = run
      const counts = `${records} records: ${inserted} new, ${changed} changed, ${closed} gone`
      context.out.write(
        `  ${resource.name.padEnd(14)} ${counts} (${((performance.now() - started) / 1000).toFixed(1)} s)\n`,
      )
    }
    context.out.write('\n')
  } finally {
    await api.close()
  }
}

const answers = [
  {
    title: 'Which legendary bows hit hardest?',
    sql: `select display_name, level, average_dps from analytics.item
           where sub_type = 'bow' and tier = 'legendary' order by average_dps desc nulls last limit 5`,
  },
  {
    title: 'Which armour gives more than 10 strength?',
    sql: `select display_name, sub_type, level, min, max from analytics.item_identification
           where identification = 'rawStrength' and max > 10 and type = 'armour' order by max desc, display_name limit 5`,
  },
  {
    title: 'What did the patch change?',
    sql: `select display_name, path, old_value as before, new_value as after from analytics.item_change
           where path <> '' order by changed_at desc, display_name limit 6`,
  },
  {
    title: 'And in numbers?',
    sql: 'select patch, started_at, items_added, items_changed, items_removed, recipes_changed from analytics.patch',
  },
]

async function showAnswers(db: Database, out: NodeJS.WritableStream): Promise<void> {
  for (const { title, sql } of answers) {
    const rows = await db.query(sql)
    out.write(`${title}\n\n${indent(formatTable(Object.keys(rows[0] ?? {}), rows))}\n`)
  }
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}

function whatNext(folder: string): string {
  return `The database stays where it is. Type next:

  node dist/main.js query --list --data-dir ${folder}
  node dist/main.js query item_change --data-dir ${folder}
  node dist/main.js status --data-dir ${folder}
  node dist/main.js sync items          the real thing: asks the public API, keeps history in your own folder
`
}
