import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig, settingNames } from '../../src/base/config.ts'
import { resources, resourcesNamed } from '../../src/resources/index.ts'
import { nextTick } from '../../src/sync/schedule/ticker.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('.env.example', () => {
  const lines = [...read('.env.example').matchAll(/^# ([A-Z_\d]+)=(.*)$/gm)]
  const compose = [...read('docker-compose.yml').matchAll(/\$\{([A-Z_\d]+)/g)].map(([, name = '']) => name)

  test('has every setting of the program and of docker-compose.yml once, and no other', () => {
    const names = lines.map(([, name = '']) => name)
    expect(new Set(names).size).toBe(names.length)
    expect([...names].sort()).toEqual([...new Set([...settingNames, ...compose])].sort())
  })

  test('shows valid values, and the default where there is one', async () => {
    const folder = await temporaryFolder()
    const text = lines.map(([, name, value]) => `${name}=${value}`).join('\n')
    writeFileSync(join(folder, '.env'), text)
    const example = readConfig({}, {}, folder)
    expect(Object.keys(parseEnv(text))).toHaveLength(lines.length)
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    const { baseUrl, logLevel, logFormat, raw, concurrency, plausibleShare, zeroShare, absences, privacy } = readConfig(
      {},
      {},
      empty,
    )
    const defaults = { baseUrl, logLevel, logFormat, raw, concurrency, plausibleShare, zeroShare, absences, privacy }
    expect(example).toMatchObject(defaults)
  })
})

test('docker-compose.yml gives every setting to wynnsync: from the environment, or its own', () => {
  const given = parse(read('docker-compose.yml')).services.wynnsync.environment as Record<string, string>
  expect(Object.keys(given).sort()).toEqual([...settingNames].sort())
  const own = ['DATABASE_URL', 'PGPASSWORD', 'WYNNSYNC_DATA_DIR', 'WYNNSYNC_CREDENTIALS', 'WYNNSYNC_METRICS_HOSTS']
  for (const name of settingNames) if (!own.includes(name)) expect(given[name]).toBe(`\${${name}:-}`)
})

describe('the workflow', () => {
  const { jobs } = parse(read('.github/workflows/test.yml'))
  const commands = (job: string) => jobs[job].steps.flatMap(({ run }: { run?: string }) => run ?? [])

  test("runs the README's two commands on Node 20, 22, 24 and 26", () => {
    expect(jobs.node.strategy.matrix.node).toEqual([20, 22, 24, 26])
    expect(commands('node')).toEqual(['npm ci && npm run demo', 'npm cit'])
    for (const command of commands('node')) expect(read('README.md')).toContain(command)
  })

  test('runs the tests on PostgreSQL 15 to 18', () => {
    expect(jobs.postgres.strategy.matrix.postgres).toEqual([15, 16, 17, 18])
    expect(commands('postgres')).toEqual(['npm cit', 'npm run test:rest'])
    expect(jobs.postgres.env.TEST_DATABASE_URL).toMatch(/^postgres:/)
  })

  test('has what .ci/run plays too: the oldest PostgreSQL, and the newer versions of Node', () => {
    const script = read('.ci/run')
    expect(script).toContain(`/usr/lib/postgresql/${Math.min(...jobs.postgres.strategy.matrix.postgres)}/bin`)
    const called = [...script.matchAll(/^on_node (\d+) \w/gm)].map(([, version]) => Number(version))
    expect(called.sort()).toEqual(jobs.node.strategy.matrix.node.slice(1))
    const files = [...script.matchAll(/test\/[a-z]+\/(?:[a-z-]+\.test\.ts)?/g)].map(([path]) => path)
    for (const path of files) expect([path, existsSync(join(root, path))]).toEqual([path, true])
    expect(files.length).toBeGreaterThan(5)
  })

  test('of each night runs the mutation tests, of parts and tests that are there', () => {
    const { jobs } = parse(read('.github/workflows/nightly.yml'))
    expect(jobs.mutation.steps).toContainEqual({ run: 'npm run test:mutation' })
    const parts = JSON.parse(read('test/mutation/parts.json')) as Record<string, { mutate: string[]; tests: string[] }>
    const files = Object.values(parts).flatMap(({ mutate, tests }) => [...mutate, ...tests])
    expect(files.length).toBeGreaterThan(1)
    const missing = files.filter((path) => !existsSync(join(root, path.replace(/#.*$/, ''))))
    expect(missing).toEqual([])
  })

  test('uses the version of Node that .nvmrc names, which package.json allows', () => {
    expect(read('.nvmrc').trim()).toBe('20')
    expect(JSON.parse(read('package.json')).engines.node).toBe('>=20.19')
  })
})

describe('examples', () => {
  test('crontab has lines that name resources, at times that come', () => {
    const lines = [...read('examples/crontab').matchAll(/^(\S+ \S+ \S+ \S+ \S+) +wynnsync sync (.+) --quiet$/gm)]
    const named = lines.flatMap(([, , names = '']) => names.split(' '))
    expect(resourcesNamed(named)).toHaveLength(resources.length)
    for (const [, expression = ''] of lines) expect(nextTick(expression, 0)).toBeGreaterThan(0)
  })

  const notebook: { cells: { cell_type: string; source: string[]; outputs?: unknown[] }[] } = JSON.parse(
    read('examples/territories.ipynb'),
  )
  const cells = notebook.cells.filter(({ cell_type }) => cell_type === 'code')
  const queries = cells.flatMap(({ source }) => [...source.join('').matchAll(/query\("{3}([^"]+)"{3}\)/g)])

  test('territories.ipynb is stored without outputs', () => {
    expect(cells.flatMap(({ outputs }) => outputs)).toEqual([])
  })

  test.each([
    ['questions.sql', () => read('examples/questions.sql')],
    ['territories.ipynb', () => queries.map(([, sql]) => sql).join(';')],
    ['the README', () => read('README.md').split('```sql\n')[1]?.split('```')[0] ?? ''],
  ])('%s has statements that an empty database answers', async (_name, sql) => {
    const db = await testDatabase('embedded')
    const statements = sql()
      .replace(/^--.*$/gm, '')
      .split(';')
      .map((one) => one.trim())
      .filter((one) => one !== '')
    expect(statements.length).toBeGreaterThan(3)
    for (const statement of statements) expect(Array.isArray(await db.query(statement)), statement).toBe(true)
  })
})
