import { mkdir } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/app/clock.ts'
import { formatTable } from '../../src/cli/output/table.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { openServer } from '../../src/db/server/server.ts'
import { runNode } from './child.ts'
import { answerBody, itemAnswers } from './items.ts'
import { measureLoader } from './loader.ts'
import { measurePreparation } from './preparation.ts'
import { readyText, readyValues } from './raw-copy.ts'
import { startPostgres } from './server.ts'
import { measureSync } from './sync.ts'
import { measureYear, wholeYear } from './year/year.ts'

/** Rows that each kind of database is given; PGlite gets fewer, as it shares one thread with the loader. */
const ROWS = { server: 1_000_000, embedded: 200_000 }

const ROUNDS = { loader: 3, sync: 5 }

/** What the bench is made of; `npm run bench -- loader` runs that part alone. */
const PARTS = ['prepare', 'loader', 'sync', 'year'] as const

/**
 * Runs the bench and prints its tables. Its data is the same in every run.
 * @param options.program the compiled command, for what is measured as processes of their own
 * @param options.folder an empty place for databases; the caller removes it
 * @param options.only the parts wanted; none named: all
 * @param options.days how much history the questions are asked of, and of how many guilds
 */
export async function bench(options: {
  program: string
  folder: string
  only: readonly string[]
  days: number
  guilds: number
}): Promise<void> {
  const { program, folder, only, days, guilds } = options
  const wanted = (part: (typeof PARTS)[number]) => only.length === 0 || only.includes(part)
  const started = performance.now()
  const postgres = await startPostgres()
  say(`Node ${process.version} on ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}; Postgres: ${postgres.taken}\n`)
  try {
    if (wanted('prepare')) {
      const rows = measurePreparation(answerBody(), 7)
      say(`\nOne answer with all items, median of 7\n${tableOf(rows)}`)
    }
    if (wanted('loader')) {
      const rows = [
        ...(await loadIntoServer(program, await postgres.createDatabase('loader'))),
        ...(await loadIntoEmbedded(program, join(folder, 'loader'))),
      ]
      say(`\nLoad of many items with all constraints, one transaction, median of ${ROUNDS.loader}\n${tableOf(rows)}`)
    }
    if (wanted('sync')) {
      const rows = await measureSync({ program, folder, rounds: ROUNDS.sync, createDatabase: postgres.createDatabase })
      say(`\nsync items as a process, sandbox beside it, median of ${ROUNDS.sync}\n${tableOf(rows)}`)
    }
    if (wanted('year')) await askYear(program, await postgres.createDatabase('year'), { days, guilds })
  } finally {
    await postgres.stop()
  }
  say(`\n${((performance.now() - started) / 1000).toFixed(0)} s in all\n`)
}

async function loadIntoServer(program: string, url: string) {
  await runNode([program, 'migrate'], { DATABASE_URL: url })
  const db = await openServer(url)
  try {
    return await measureLoader(db, itemAnswers(ROWS.server), readyText(db, url), ROUNDS.loader)
  } finally {
    await db.close()
  }
}

async function loadIntoEmbedded(program: string, dataDir: string) {
  await mkdir(dataDir)
  await runNode([program, 'migrate'], { WYNNSYNC_DATA_DIR: dataDir })
  const db = await openEmbedded(dataDir, { clock: systemClock })
  try {
    return await measureLoader(db, itemAnswers(ROWS.embedded), readyValues(db), ROUNDS.loader)
  } finally {
    await db.close()
  }
}

async function askYear(program: string, url: string, extent: { days: number; guilds: number }) {
  await runNode([program, 'migrate'], { DATABASE_URL: url })
  const db = await openServer(url)
  try {
    // Full hours, so that what is asked does not depend on the minute.
    const until = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000)
    await measureYear(db, { ...wholeYear, ...extent, until }, (title, rows) =>
      say(`\n${title}\n${tableOf(rows.map((row) => ({ ...row })))}`),
    )
  } finally {
    await db.close()
  }
}

function tableOf(rows: readonly Readonly<Record<string, unknown>>[]): string {
  return formatTable(Object.keys(rows[0] ?? {}), rows)
}

function say(text: string): void {
  process.stdout.write(text)
}
