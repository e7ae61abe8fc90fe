import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import type { LakeIndex } from '../../src/lake/index-file.ts'
import { resources } from '../../src/resources/index.ts'
import { buildProgram, type Environment, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { changeIndex, readIndex } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

beforeAll(buildProgram)

/** Two live resources each second, and nothing else. */
const schedule = resources
  .map(({ name }) => `${name}=${name === 'territories' || name === 'seasons' ? '* * * * * *' : 'off'}`)
  .join(';')

async function until<T>(seen: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await seen()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A `start` that logs into `lines` until the test is over. */
function started(environment: Environment) {
  const { child, finished } = startProgram(['start', '--metrics-port', '0'], environment)
  onTestFinished(async () => {
    child.kill('SIGTERM')
    expect((await finished).code).toBe(0)
  })
  let log = ''
  child.stderr?.on('data', (piece: Buffer) => {
    log += piece.toString()
  })
  return { log: () => log }
}

const rowsOf = (index: LakeIndex, table: string) =>
  index.files.filter((file) => file.table === table).reduce((sum, { rows }) => sum + rows, 0)

describe('wynnsync start with WYNNSYNC_LAKE', () => {
  test('keeps a lake that names nobody up to date, and status and metrics say how old it is', async () => {
    const api = await servedApi({ game: { guilds: 20, players: 60 } })
    const place = join(await temporaryFolder(), 'lake')
    const environment = {
      DATABASE_URL: await testDatabaseUrl(),
      WYNNSYNC_BASE_URL: api.url,
      WYNNSYNC_SCHEDULE: schedule,
      WYNNSYNC_LAKE: place,
      WYNNSYNC_LAKE_SCHEDULE: '* * * * * *',
    }
    const empty = JSON.parse((await runInside(['status', '--json'], environment)).out)
    expect(empty.lake).toEqual({ place, at: null, people: false, files: 0, rows: 0, bytes: 0 })
    const { log } = started(environment)
    const first = await until(async () => {
      const index = await readIndex(place)
      return index && rowsOf(index, 'game.territory_hold') > 0 ? index : undefined
    })
    expect(first.people).toBe(false)
    await until(async () => ((await readIndex(place))?.at !== first.at ? true : undefined))

    const status = await runInside(['status', '--json'], environment)
    const { lake } = JSON.parse(status.out)
    expect(lake).toEqual({ ...lake, place, people: false, at: expect.stringMatching(/Z$/) })
    expect(lake.rows).toBeGreaterThan(0)
    expect((await runInside(['status'], environment)).out).toMatch(
      /^lake .*, [\d.]+ [kM]B, [\d,]+ rows, exported \d+ s ago$/m,
    )
    const url = /url=(\S+)/.exec(log())?.[1] ?? ''
    const metrics = await (await fetch(url)).text()
    expect(Number(/^wynnsync_lake_age_seconds (\S+)$/m.exec(metrics)?.[1])).toBeLessThan(60)
    expect(Number(/^wynnsync_lake_bytes (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(1000)
  })

  test('goes on syncing when the lake cannot be written, says so, and tries again', async () => {
    const api = await servedApi({ game: { guilds: 20, players: 60 } })
    const place = await temporaryFolder()
    await writeFile(join(place, 'index.json'), 'no index')
    await mkdir(join(place, 'other'))
    const environment = {
      DATABASE_URL: await testDatabaseUrl(),
      WYNNSYNC_BASE_URL: api.url,
      WYNNSYNC_SCHEDULE: schedule,
      WYNNSYNC_LAKE: place,
      WYNNSYNC_LAKE_SCHEDULE: '* * * * * *',
    }
    const { log } = started(environment)
    const failures = () => log().match(/the lake could not be exported, which is tried again: .*is no index of a lake/g)
    await until(() => ((failures()?.length ?? 0) > 1 ? true : undefined))
    const db = await openServer(environment.DATABASE_URL)
    onTestFinished(() => db.close())
    const countRuns = async () => Number((await db.values('select count(*) from sync.run'))[0])
    const before = await countRuns()
    await until(async () => ((await countRuns()) > before ? true : undefined))
  })

  test('doctor says whether the lake can be written and is up to date, and what to do', async () => {
    const api = await servedApi({ game: false })
    const folder = await temporaryFolder()
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
    const found = async (place: string) => {
      const { out } = await runInside(['doctor', '--json'], { ...environment, WYNNSYNC_LAKE: place })
      const { findings } = JSON.parse(out) as { findings: { check: string; verdict: string; seen: string }[] }
      return findings.find(({ check }) => check === 'lake')
    }
    const place = join(folder, 'deep', 'lake')
    expect(await found(place)).toEqual({
      check: 'lake',
      verdict: 'fine',
      seen: `nothing was exported into ${place} yet`,
    })
    expect((await runInside(['lake', 'export', place], environment)).code).toBe(0)
    expect(await found(place)).toMatchObject({
      verdict: 'fine',
      seen: expect.stringContaining(`${place} was exported `),
    })
    await changeIndex(place, (index) => Object.assign(index, { at: index.at.replace(/^20\d\d/, '2001') }))
    expect(await found(place)).toMatchObject({ verdict: 'warning', todo: expect.stringContaining('wynnsync start') })
    await writeFile(join(place, 'index.json'), 'no index')
    expect(await found(place)).toMatchObject({
      verdict: 'problem',
      seen: expect.stringContaining('no index of a lake'),
    })
    expect(await found('/dev/null/lake')).toMatchObject({
      verdict: 'problem',
      seen: expect.stringContaining('/dev/null/lake: '),
    })
    const { out } = await runInside(['doctor', '--json'], environment)
    expect(out).not.toContain('lake')
  })

  test('refuses a place that is no folder, and a schedule that is none', async () => {
    const wrong = { WYNNSYNC_LAKE: 'gs://bucket/lake', WYNNSYNC_LAKE_SCHEDULE: 'hourly' }
    const { code, err } = await runInside(['start'], wrong)
    expect(code).toBe(2)
    expect(err).toContain('WYNNSYNC_LAKE: must be a folder or s3://bucket/prefix')
    expect(err).toContain('WYNNSYNC_LAKE_SCHEDULE: ')
  })
})
