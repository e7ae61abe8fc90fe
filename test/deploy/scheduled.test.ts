import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { systemClock, virtualClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { restoreDatabase } from '../../src/lake/backup/restore.ts'
import { worklists } from '../../src/resources/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { startSandbox } from '../../src/sandbox/index.ts'
import { tablesOf } from '../../src/sync/replay/replayed-tables.ts'
import { gameDigests } from '../support/backfill.ts'
import { openBucket } from '../support/bucket.ts'
import { buildProgram, mainFile, startCommand } from '../support/cli.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { againstServed, type Served, servedBy } from '../support/served-truth.ts'

beforeAll(buildProgram)

const example = (name: string) => new URL(`../../examples/${name}`, import.meta.url)
const PLACE = 's3://bucket/of/wynn'
const HOUR = 3_600_000

interface Step {
  readonly run?: string
  readonly if?: string
}

/** The commands of the workflow that are the program's, and the names in its environment. */
async function workflow() {
  const { jobs, concurrency } = parse(await readFile(example('scheduled-workflow.yml'), 'utf8'))
  const steps: Step[] = jobs.sync.steps
  const own = steps.filter(({ run }) => run?.startsWith('wynnsync '))
  return { own, concurrency, names: Object.keys(jobs.sync.env) }
}

/** A small world whose time stands still until it is moved. */
async function smallSandbox() {
  const clock = virtualClock(Date.parse('2026-06-01T12:00:00Z'))
  const game = { guilds: 3, players: 10, territories: 20 }
  const limits = { guest: 5000, token: 5000 }
  const sandbox = await startSandbox({ seed: 5, clock, game, items: smallItemWorld(), limits })
  onTestFinished(() => sandbox.close())
  const nodes = (await (await fetch(`${sandbox.url}/map/gathering-nodes`)).json()) as unknown[]
  sandbox.setAnswer('/map/gathering-nodes', () => ({ body: nodes.slice(0, 20) }))
  return sandbox
}

/** A bucket, a sandbox, and machines that keep nothing. */
async function scheduled() {
  const [bucket, sandbox, { own, names }] = [await openBucket(), await smallSandbox(), await workflow()]
  const programs = await temporaryFolder()
  await writeFile(join(programs, 'wynnsync'), `#!/bin/sh\nexec "${process.execPath}" "${mainFile}" "$@"\n`, {
    mode: 0o755,
  })
  const access = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_ENDPOINT_URL_S3: bucket.endpoint }
  const given: Record<string, string> = { ...access, WYNNSYNC_BACKUP: PLACE }
  const machine = async () => {
    const folder = await temporaryFolder()
    // What is not given is empty there.
    const environment = Object.fromEntries(names.map((name) => [name, given[name] ?? '']))
    return {
      ...environment,
      WYNNSYNC_DATA_DIR: join(folder, 'wynnsync'),
      WYNNSYNC_BASE_URL: sandbox.url,
      PATH: `${programs}:${process.env.PATH}`,
    }
  }
  type Machine = Awaited<ReturnType<typeof machine>>
  const start = (name: string, on: Machine) => {
    const { run } = own.find((one) => one.run?.startsWith(`wynnsync ${name}`)) ?? {}
    return startCommand('bash', ['-e', '-c', `exec ${run}`], on)
  }
  const step = async (name: string, on: Machine) => {
    const { code, err } = await start(name, on).finished
    // A sync ends with 3 where something was quarantined.
    expect([code === 3 && name === 'sync' ? 0 : code, err]).toEqual([0, expect.any(String)])
  }
  /** Begins a step, and kills it when it asks the bucket for what is found, or else the sandbox for the map. */
  const killed = async (name: string, on: Machine, isThen?: (method: string, key: string) => boolean) => {
    const running = start(name, on)
    let kills = 0
    const kill = () => {
      kills += 1
      running.child.kill('SIGKILL')
      // What was sent is not done.
      return 503
    }
    if (isThen) bucket.before = (method, key) => (kills > 0 || isThen(method, key) ? kill() : undefined)
    else sandbox.setAnswer('/guild/list/territory', () => ({ status: kill(), body: {} }))
    const { code } = await running.finished
    bucket.before = () => undefined
    if (!isThen) sandbox.setAnswer('/guild/list/territory', null)
    expect([name, code, kills > 0]).toEqual([name, null, true])
  }
  return { bucket, sandbox, machine, step, killed }
}

test('the workflow restores, syncs and backs up, one run after the other', async () => {
  const { own, concurrency } = await workflow()
  expect(own.map(({ run }) => run?.split(' ')[1])).toEqual(['restore', 'sync', 'backup'])
  expect(concurrency['cancel-in-progress']).toBe(false)
  expect(own[2]?.if).toContain("steps.restore.outcome == 'success'")
})

test('runs that are killed in and between their steps lose and double nothing', { timeout: 600_000 }, async () => {
  const { bucket, sandbox, machine, step, killed } = await scheduled()
  // A machine that keeps its database, and is never interrupted.
  const kept = await machine()
  const served: Served[] = []
  /** While time stands still, that one syncs as well. */
  const inSlot = async (work: () => Promise<void>) => {
    await Promise.all([step('sync', kept), work()])
    served.push(await servedBy(sandbox))
    await sandbox.clock.moveTo(sandbox.clock.now() + 2 * HOUR)
  }

  await killed('sync', await machine())
  await inSlot(async () => {
    const first = await machine()
    for (const name of ['restore', 'sync', 'backup']) await step(name, first)
  })

  const third = await machine()
  await inSlot(async () => {
    const before = new Map(bucket.objects)
    await killed('restore', await machine(), (method, key) => method === 'GET' && key.endsWith('.copy.gz'))
    const second = await machine()
    for (const name of ['restore', 'sync']) await step(name, second)
    await killed('backup', second, (method, key) => method === 'PUT' && key.endsWith('backup.json'))
    for (const [key, object] of before) expect([key, bucket.objects.get(key)]).toEqual([key, object])
    for (const name of ['restore', 'sync']) await step(name, third)
    // Its list of files is there, and files of the backup before are not deleted.
    await killed('backup', third, (method) => method === 'DELETE')
  })

  // The same from a crontab, which leaves nothing on its machine.
  const temporary = join(await temporaryFolder(), 'tmp')
  await inSlot(async () => {
    await mkdir(temporary)
    const on = { ...(await machine()), TMPDIR: temporary }
    const { code, err } = await startCommand('sh', [example('scheduled-sync.sh').pathname], on).finished
    expect([code === 3 ? 0 : code, err]).toEqual([0, expect.any(String)])
    expect(await readdir(temporary)).toEqual([])
  })

  const access = { keyId: 'key', secret: 'secret', sessionToken: undefined, region: 'us-east-1' }
  const settings = { s3: { ...access, endpoint: bucket.endpoint }, clock: systemClock, dataDir: temporary }
  const restored = await testDatabase('server')
  await restoreDatabase(restored, PLACE, { settings, onChecked: () => {}, onProgress: () => {} })
  const [whole, others] = [await openOn(kept), await openOn(third)]
  // Which guild, player or board is due is said by the clock of the machine, which goes on meanwhile: of these, what was served counts.
  const byClock = new Set([...worklists, leaderboards].flatMap(tablesOf))
  const [digests, expected] = [await gameDigests(restored), await gameDigests(whole)]
  const compared = Object.keys(expected).filter((table) => !byClock.has(table))
  for (const table of compared) expect([table, digests[table]]).toEqual([table, expected[table]])
  expect(compared).toEqual(expect.arrayContaining(['game.territory_hold', 'game.world_sample', 'game.item']))
  const { wrong, compared: statements } = await againstServed(restored, served)
  expect([wrong, (statements.guilds ?? 0) > 20]).toEqual([[], true])
  for (const table of ['sync.run', 'game.guild_sample']) {
    const [rows, before] = [await rowsOf(restored, table), await rowsOf(others, table)]
    expect(before.length).toBeGreaterThan(0)
    expect([table, before.filter((row) => !rows.includes(row))]).toEqual([table, []])
    expect([table, new Set(rows).size]).toEqual([table, rows.length])
  }
})

const openOn = async ({ WYNNSYNC_DATA_DIR }: { readonly WYNNSYNC_DATA_DIR: string }) => {
  const db = await openEmbedded(WYNNSYNC_DATA_DIR, { clock: systemClock })
  onTestFinished(() => db.close())
  return db
}

/** The rows of a table that stay as they are once they are written. */
async function rowsOf(db: Database, table: string): Promise<string[]> {
  const lines = await db.query<{ line: string }>(`select to_jsonb(each)::text as line from ${table} each`)
  return lines.map(({ line }) => line)
}
