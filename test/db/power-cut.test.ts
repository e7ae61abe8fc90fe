import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { seededRandom, systemClock, virtualClock } from '../../src/base/clock.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { items } from '../../src/resources/items/index.ts'
import { effort } from '../support/effort.ts'
import { temporaryFolder, testDataDir } from '../support/postgres.ts'
import { type Recording, recordWrites } from '../support/power-cut.ts'
import { seedsOf } from '../support/seeds.ts'
import { contentOf, item, openWorld } from '../support/world.ts'

const SHARED_MEMORY = '/dev/shm'

/** What the tables hold once so much was written. */
interface Moment {
  readonly at: number
  readonly content: unknown
}

const tree = (index: number, level: number) =>
  item(`Tree ${index}`, { requirements: { level }, lore: `as old as the hills ${index} ${level} `.repeat(8) })

/** Syncs items that change from run to run, some vanish and come back, with a checkpoint here and there. */
async function recordRuns(): Promise<{ recording: Recording; moments: Moment[]; begin: number; end: number }> {
  const dataDir = await testDataDir()
  const recording = await recordWrites(join(dataDir, 'postgres'), await temporaryFolder())
  onTestFinished(() => recording.stop())
  const db = await openEmbedded(dataDir, { clock: virtualClock(0) })
  const world = await openWorld(db)
  const moments: Moment[] = []
  const remember = async () => void moments.push({ at: recording.now(), content: await contentOf(db) })
  await remember()
  for (let run = 0; run < 10; run++) {
    const body = Array.from({ length: 400 }, (_, index) => tree(index, (run * (index % 7)) % 5)).slice(run % 3)
    const { status } = await world.sync(items, body, `${String(run).padStart(2, '0')}:00`)
    expect(['ok', 'partial']).toContain(status)
    await remember()
    if (run % 3 === 1) await db.query('checkpoint')
    if (run === 6) await db.query('vacuum')
  }
  await world.api.close()
  await world.sandbox.close()
  await db.close()
  return { recording, moments, begin: moments[0]?.at ?? 0, end: recording.now() }
}

/** A folder in memory, where there is enough of it: to open an image syncs a thousand files. */
async function quickFolder(): Promise<string> {
  const room = await statfs(SHARED_MEMORY).catch(() => null)
  if (!room || room.bavail * room.bsize < 500_000_000) return temporaryFolder()
  const folder = await mkdtemp(join(SHARED_MEMORY, 'wynnsync-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test.each(seedsOf(import.meta.filename))(
  'a power cut at any instant loses nothing that was committed, and needs no copy (seed %i)',
  {
    timeout: 3_600_000,
  },
  async (seed) => {
    const random = seededRandom(seed)
    const { recording, moments, begin, end } = await recordRuns()
    recording.stop()
    const inFlight: boolean[] = []
    for (let cut = 1; cut <= effort.powerCuts; cut++) {
      const at = begin + Math.floor(random() * (end - begin + 1))
      const dataDir = await quickFolder()
      await recording.image(at, random, join(dataDir, 'postgres'))
      await writeFile(join(dataDir, 'boot'), 'another start of the machine')
      const reported: string[] = []
      const db = await openEmbedded(dataDir, { clock: systemClock, report: (message) => void reported.push(message) })
      const found = await contentOf(db)
      await db.close()
      const committed = moments.findLastIndex((moment) => moment.at <= at)
      // A transaction that was under way when it happened may be there, whole.
      const isNext = JSON.stringify(found) === JSON.stringify(moments[committed + 1]?.content)
      if (!isNext) expect(found, `cut at ${at}`).toEqual(moments[committed]?.content)
      inFlight.push(isNext)
      expect(reported).toEqual([])
      await rm(dataDir, { recursive: true })
    }
    expect(inFlight).toContain(false)
  },
)
