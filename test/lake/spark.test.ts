import { spawnSync } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { exportLake } from '../../src/lake/export.ts'
import { fillYear } from '../bench/year/fill.ts'
import { startCommand } from '../support/cli.ts'
import { effort } from '../support/effort.ts'
import { digestOf, digestsOf } from '../support/lake-answers.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'

const PYSPARK = 'pyspark==4.0.1'
const extent = {
  until: new Date('2026-06-03T00:00Z'),
  days: effort.sparkDays,
  guilds: 30,
  territories: 200,
  items: 600,
  seed: 1,
}
const script = fileURLToPath(new URL('spark.py', import.meta.url))
const questions = fileURLToPath(new URL('../../src/lake/sql', import.meta.url))

const runs = (command: string, ...args: string[]) => spawnSync(command, args).status === 0
const canRun = effort.everyAnswer && runs('python3', '-m', 'venv', '--help') && runs('java', '-version')
const reason = effort.everyAnswer ? 'python3 with venv and java are not here' : 'WYNNSYNC_TEST_FULL=1 runs it'
const title = 'two worker processes of Spark answer every question about a lake as Postgres does'

if (!canRun) test.skip(`${title} (skipped: ${reason})`)
else
  test(title, { timeout: 3_600_000 }, async () => {
    const folder = await temporaryFolder()
    const python = join(folder, 'venv/bin/python')
    const environment = { HOME: folder, SPARK_LOCAL_IP: '127.0.0.1', SPARK_LOCAL_DIRS: folder, PYSPARK_PYTHON: python }
    const run = async (command: string, ...args: string[]) => {
      const { code, out, err } = await startCommand(command, args, environment, folder).finished
      expect([code, code === 0 ? '' : err.slice(-2000)]).toEqual([0, ''])
      return out
    }
    await run('python3', '-m', 'venv', join(folder, 'venv'))
    await run(python, '-m', 'pip', 'install', '--quiet', PYSPARK)
    const db = await testDatabase('server')
    await fillYear(db, extent)
    const lake = join(folder, 'lake')
    const options = { clock: systemClock, program: 'test', keepMs: 0, people: true, onProgress: () => {} }
    const { rows } = await exportLake(db, lake, options)
    const expected = await digestsOf(db)
    for (const workers of ['2', '1']) {
      const out = join(folder, `answers-${workers}`)
      await mkdir(out)
      const seconds = JSON.parse(
        (await run(python, script, lake, questions, out, workers)).trim().split('\n').at(-1) ?? '',
      )
      expect(Object.keys(seconds).sort()).toEqual(Object.keys(expected).sort())
      for (const [name, digest] of Object.entries(expected))
        expect([name, await digestOf(rowsIn(join(out, name)))]).toEqual([name, digest])
      const said = Object.entries(expected).map(([name, digest]) => `${name} ${digest} ${seconds[name]} s`)
      process.stdout.write(`${rows} rows, ${workers} workers: ${said.join('; ')}\n`)
    }
  })

/** The rows that workers wrote into the files of a folder. */
async function* rowsIn(folder: string): AsyncGenerator<unknown[]> {
  for (const name of (await readdir(folder)).filter((one) => one.startsWith('part-')))
    for await (const line of createInterface(createReadStream(join(folder, name))))
      yield Object.values(JSON.parse(line) as object)
}
