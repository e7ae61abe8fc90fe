import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { fillYear } from '../bench/year/fill.ts'
import { buildProgram, runProgram, startCommand, startProgram } from '../support/cli.ts'
import { effort } from '../support/effort.ts'
import { transactionsOver } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'

const PACKAGES = ['moto[server]==5.2.5', 'boto3']
const script = fileURLToPath(new URL('s3.py', import.meta.url))
const extent = { until: new Date('2026-06-03T00:00Z'), days: 2, guilds: 4, territories: 20, items: 60, seed: 1 }
const place = 's3://history/of/wynn'

const canRun = effort.everyAnswer && spawnSync('python3', ['-m', 'venv', '--help']).status === 0
const reason = effort.everyAnswer ? 'python3 with venv is not here' : 'WYNNSYNC_TEST_FULL=1 runs it'
const title = 'a lake in a bucket whose service checks signatures'

/** The settings of a bucket `history` on a server of this machine. */
async function bucket(folder: string) {
  const python = join(folder, 'venv/bin/python')
  for (const args of [
    ['python3', '-m', 'venv', join(folder, 'venv')],
    [python, '-m', 'pip', 'install', '--quiet', ...PACKAGES],
  ]) {
    const [command = '', ...rest] = args
    const { code, err } = await startCommand(command, rest, { HOME: folder }, folder).finished
    expect([code, code === 0 ? '' : err.slice(-2000)]).toEqual([0, ''])
  }
  const out = join(folder, 'access.json')
  const { child } = startCommand(python, [script, 'history', out], { HOME: folder }, folder)
  onTestFinished(() => void child.kill('SIGKILL'))
  while (!existsSync(out)) {
    expect(child.exitCode).toBe(null)
    await systemClock.sleep(100)
  }
  const { url, key, secret } = JSON.parse(readFileSync(out, 'utf8'))
  return { AWS_ENDPOINT_URL_S3: url, AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: secret }
}

if (!canRun) test.skip(`${title} (skipped: ${reason})`)
else
  test(title, { timeout: 600_000 }, async () => {
    await buildProgram()
    const folder = await temporaryFolder()
    const access = await bucket(folder)
    const url = await testDatabaseUrl()
    const db = await openServer(url)
    onTestFinished(() => db.close())
    await fillYear(db, extent)
    const environment = { ...access, DATABASE_URL: url, WYNNSYNC_DATA_DIR: join(folder, 'data'), WYNNSYNC_LAKE: place }
    const said: string[] = []
    const run = async (args: string[], other: Record<string, string> = {}) => {
      const done = await runProgram(args, { ...environment, ...other })
      said.push(done.out, done.err)
      return done
    }
    const args = ['lake', 'export', place, '--people', '--keep', '0', '--json']
    await transactionsOver(db)
    // Killed after some files, it goes on with the others.
    const killed = startProgram(args, environment)
    const draft = () => spawnSync('sh', ['-c', `cat "${folder}"/data/lakes/*/draft.ndjson | wc -l`]).stdout.toString()
    while (killed.child.exitCode === null && Number(draft()) < 5) await systemClock.sleep(5)
    killed.child.kill('SIGKILL')
    await killed.finished
    const again = await run(args)
    expect([again.code, again.err]).toEqual([0, expect.any(String)])
    const first = JSON.parse(again.out)
    expect(first.written).toBeLessThan(first.files - 3)
    expect(JSON.parse((await run(args)).out)).toMatchObject({ written: 0, files: first.files, rows: first.rows })
    await db.query(
      'delete from game.world_sample where observed_at > (select max(observed_at) - $1::interval from game.world_sample)',
      ['1 hour'],
    )
    await transactionsOver(db)
    expect(JSON.parse((await run(args)).out)).toMatchObject({ written: 1, dropped: 1 })

    const { lake } = JSON.parse((await run(['status', '--json'])).out)
    expect(lake).toMatchObject({ place, people: true, files: first.files })
    const { findings } = JSON.parse((await run(['doctor', '--json'])).out)
    expect(findings).toContainEqual({ check: 'lake', verdict: 'fine', seen: expect.stringContaining(place) })

    const copy = { DATABASE_URL: await testDatabaseUrl() }
    const imported = JSON.parse((await run(['backfill', '--from-lake', place, '--json'], copy)).out)
    expect(imported).toMatchObject({ place, refused: [] })
    const second = await openServer(copy.DATABASE_URL)
    onTestFinished(() => second.close())
    const holds = 'select territory, valid_from, valid_until, guild_uuid from game.territory_hold order by 1, 2'
    expect((await second.values(holds)).length).toBeGreaterThan(100)
    expect(await second.values(holds)).toEqual(await db.values(holds))

    const wrong = await run(args, { AWS_SECRET_ACCESS_KEY: 'wrong' })
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('status 403 SignatureDoesNotMatch')])
    const missing = await run(['lake', 'export', 's3://nowhere/lake'])
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('status 404 NoSuchBucket')])
    await rm(join(folder, 'data'), { recursive: true, force: true })
    expect(said.join('')).not.toContain(access.AWS_SECRET_ACCESS_KEY)
  })
