import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../src/base/clock.ts'
import { openEmbedded } from '../../../src/db/embedded/embedded.ts'
import { openServer } from '../../../src/db/server/server.ts'
import { runNode } from '../child.ts'
import { itemAnswers } from '../items.ts'
import { measureLoader } from '../loader.ts'
import type { Part } from '../part.ts'
import { readyText, readyValues } from '../raw-copy.ts'
import type { Outcome, Target } from '../target.ts'

/** Rows that each kind of database is given; PGlite gets fewer, as it shares one thread with the loader. */
const ROWS = { server: 1_000_000, embedded: 200_000 }

const ROUNDS = 3

const target = (kind: string): Target => ({
  name: `1 load, ${kind}`,
  unit: 'rows/s',
  reference: 'raw COPY',
  bound: { of: 'ratio', atLeast: 0.8 },
})

export const loader: Part = async ({ program, folder, createDatabase, say }) => {
  const server = await loadIntoServer(program, await createDatabase('loader'))
  const embedded = await loadIntoEmbedded(program, join(folder, 'loader'))
  say(`Load of many items with all constraints, one transaction, median of ${ROUNDS}`, [...server, ...embedded])
  return [server, embedded].map(outcome)
}

function outcome([copy, load]: Awaited<ReturnType<typeof measureLoader>>): Outcome {
  if (!copy || !load) throw new Error('the loader was not measured')
  return { target: target(load.database), measured: load['rows/s'], reference: copy['rows/s'] }
}

async function loadIntoServer(program: string, url: string) {
  await runNode([program, 'migrate'], { DATABASE_URL: url })
  const db = await openServer(url)
  try {
    return await measureLoader(db, itemAnswers(ROWS.server), readyText(db, url), ROUNDS)
  } finally {
    await db.close()
  }
}

async function loadIntoEmbedded(program: string, dataDir: string) {
  await mkdir(dataDir)
  await runNode([program, 'migrate'], { WYNNSYNC_DATA_DIR: dataDir })
  const db = await openEmbedded(dataDir, { clock: systemClock })
  try {
    return await measureLoader(db, itemAnswers(ROWS.embedded), readyValues(db), ROUNDS)
  } finally {
    await db.close()
  }
}
