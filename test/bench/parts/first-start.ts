import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Finished, runNode } from '../child.ts'
import { median } from '../measure.ts'
import type { Part } from '../part.ts'
import type { Outcome } from '../target.ts'

const ROUNDS = 3

/** The same without the cluster that the package brings: initdb and all migrations. */
const SLOW_WAY = `
const [dist, folder] = process.argv.slice(1)
const [{ migrateDatabase }, { systemClock: clock }, { openEmbedded }] = await Promise.all(
  ['app/app.js', 'base/clock.js', 'db/embedded/embedded.js'].map((name) => import(dist + name)))
const db = await openEmbedded(folder, { clock })
await migrateDatabase(db, { clock })
await db.close()
`

const targets = [
  { name: '5 embedded database, first start, time', of: 'wallMs', unit: 'ms', atMost: 1500 },
  { name: '5 embedded database, first start, memory', of: 'peakMb', unit: 'MB', atMost: 250 },
] as const

/** `migrate` in an empty folder, as a process of its own. */
export const firstStart: Part = async ({ program, folder, say }) => {
  const runs: Record<'unpacked' | 'migrated', Finished[]> = { unpacked: [], migrated: [] }
  for (let nth = 0; nth < ROUNDS; nth++) {
    const place = join(folder, `start-${nth}`)
    const dist = pathToFileURL(join(program, '../')).href
    runs.unpacked.push(await runNode([program, 'migrate'], { WYNNSYNC_DATA_DIR: place }))
    const slowWay = ['--input-type=module', '--eval', SLOW_WAY, '--', dist, `${place}-slow`]
    runs.migrated.push(await runNode(slowWay, {}))
  }
  const middle = (way: keyof typeof runs, of: 'wallMs' | 'cpuMs' | 'peakMb') =>
    Math.round(median(runs[way].map((run) => run[of])))
  say(
    `First start in an empty folder, to the end of the process, median of ${ROUNDS}`,
    (['unpacked', 'migrated'] as const).map((way) => ({
      cluster: way,
      'wall ms': middle(way, 'wallMs'),
      'cpu ms': middle(way, 'cpuMs'),
      'peak MB': middle(way, 'peakMb'),
    })),
  )
  return targets.map(
    ({ name, of, unit, atMost }): Outcome => ({
      target: { name, unit, reference: 'initdb and migrations', bound: { of: 'measured', atMost } },
      measured: middle('unpacked', of),
      reference: middle('migrated', of),
    }),
  )
}
