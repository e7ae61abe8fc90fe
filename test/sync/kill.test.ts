import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { seededRandom, systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { openServer } from '../../src/db/server/server.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { buildProgram, type Environment, startProgram } from '../support/cli.ts'
import { type bothKinds, kindsOfLongTests, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'
import { contentOf, item } from '../support/world.ts'

const kills = 4
const tree = (index: number, level: number) =>
  item(`Tree ${index}`, {
    requirements: { level, skills: ['cooking'] },
    identifications: { rawStrength: level, walkSpeed: { min: index, raw: index, max: index + 1 } },
    lore: 'as old as the hills '.repeat(5),
    novelty: index % 7,
  })
const numbers = Array.from({ length: 1500 }, (_, index) => index)

/** Three states of the game: everything new; much changed, some gone, some broken; the same again, so that absences count. */
const states = [
  numbers.map((index) => tree(index, 1)),
  numbers.slice(100).map((index) => (index % 50 === 0 ? { ...tree(index, 1), lore: 1 } : tree(index, 1 + (index % 3)))),
  numbers.slice(100).map((index) => tree(index, 1 + (index % 3))),
]

interface Place {
  readonly environment: Environment
  open(): Promise<Database>
}

async function placeOf(kind: (typeof bothKinds)[number]): Promise<Place> {
  if (kind === 'server') {
    const url = await testDatabaseUrl()
    return { environment: { DATABASE_URL: url }, open: () => openServer(url) }
  }
  const dataDir = await testDataDir()
  return { environment: { WYNNSYNC_DATA_DIR: dataDir }, open: () => openEmbedded(dataDir, { clock: systemClock }) }
}

/** Starts a sync and says when the API has been asked: only after that is there anything to break. */
function startSync(api: Sandbox, body: readonly object[], { environment }: Place) {
  const asked = new Promise<void>((resolve) => {
    api.setAnswer('/item/database', () => {
      resolve()
      return { body }
    })
  })
  const running = startProgram(['sync', 'items', '--json', '--base-url', api.url], environment)
  return { ...running, asked: Promise.race([asked, running.finished]) }
}

/** Syncs to the end; a server may need a moment to notice that the last process is dead. */
async function syncToEnd(
  api: Sandbox,
  body: readonly object[],
  place: Place,
): Promise<{ status: string; tail: number }> {
  for (;;) {
    const { asked, finished } = startSync(api, body, place)
    await asked
    const started = performance.now()
    const { code, out, err } = await finished
    const { status } = JSON.parse(out).runs[0]
    if (status === 'skipped') continue
    expect([0, 3], err).toContain(code)
    return { status, tail: performance.now() - started }
  }
}

async function resultOf(place: Place) {
  const db = await place.open()
  const [content, guarded, ledger, changes] = [
    await contentOf(db),
    await db.values('select resource, guard, reason from sync.guard_action order by at, reason'),
    await db.values(
      'select status, observed_at, inserted, changed, closed from sync.run order by observed_at, started_at',
    ),
    await db.values(
      `select number, change->>'inserted', change->>'changed', change->>'closed' from sync.outbox
        where change->>'event' = 'change' order by number`,
    ),
  ]
  await db.close()
  return { content, guarded, changes, ledger: ledger.map((row) => row.map(String)) }
}

beforeAll(buildProgram)

describe.each(kindsOfLongTests)('a sync that is killed at any instant, on the %s database,', (kind) => {
  test('leaves, run again, the same tables as one that nobody disturbed', async () => {
    const random = seededRandom(7)
    const [quiet, disturbed] = [await placeOf(kind), await placeOf(kind)]
    const api = await servedApi()
    const died: boolean[] = []
    for (const [index, body] of states.entries()) {
      const { tail } = await syncToEnd(api, body, quiet)
      for (let count = index; count < kills; count += states.length) {
        const { child, asked, finished } = startSync(api, body, disturbed)
        await asked
        await delay(random() * tail)
        child.kill('SIGKILL')
        died.push((await finished).code === null)
      }
      await syncToEnd(api, body, disturbed)
      await api.clock.moveTo(api.clock.now() + 3_600_000)
    }
    const [expected, found] = [await resultOf(quiet), await resultOf(disturbed)]
    expect(found.content).toEqual(expected.content)
    expect(Object.keys(found.content)).toContain('game.field_change')
    expect(found.guarded).toEqual(expected.guarded)
    expect(expected.guarded.map(([, guard]) => guard)).toEqual(['absence', 'absence'])
    // A row of the ledger for everything that was written, none twice, and none for what died before.
    const writing = (rows: string[][]) => rows.filter(([, , ...counts]) => counts.some((count) => count !== '0'))
    expect(writing(found.ledger)).toEqual(expected.ledger)
    expect(found.ledger.filter(([status = '']) => !['ok', 'partial', 'unchanged'].includes(status))).toEqual([])
    // Every change has its number, none is lost and none is there twice. The first is gone: for maintenance, the time
    // of responses counts, and the clock of this machine is far ahead of it.
    expect(found.changes).toEqual(expected.changes)
    expect(found.changes).toHaveLength(2)
    expect(died).toHaveLength(kills)
    expect(died).toContain(true)
  })
})
