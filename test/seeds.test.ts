import { readdirSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { filesOf } from './support/parts.ts'
import { temporaryFolder } from './support/postgres.ts'
import { keepFailedSeeds, seedsOf } from './support/seeds.ts'

const folder = import.meta.dirname
const file = join(folder, 'questions/territory-records.test.ts')
const kept = JSON.parse(readFileSync(join(folder, 'seeds.json'), 'utf8'))

afterEach(() => void vi.unstubAllEnvs())

/** Settings of a run, the tester's own left out. */
function run(settings: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('WYNNSYNC_TEST_')) vi.stubEnv(name, '')
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
}

describe('a random test', () => {
  test('plays the seeds that are kept, and as many new ones as are wanted', () => {
    const own: number[] = kept['test/questions/territory-records.test.ts']
    run({ WYNNSYNC_TEST_PART: 'quick' })
    expect(seedsOf(file)).toEqual(own.slice(0, 1))
    run({ WYNNSYNC_TEST_PART: 'rest' })
    expect([filesOf('rest').includes('questions/territory-records.test.ts'), seedsOf(file)]).toEqual([
      true,
      own.slice(-1),
    ])
    run({ WYNNSYNC_TEST_PART: 'long' })
    expect([filesOf('long').includes('questions/territory-records.test.ts'), seedsOf(file)]).toEqual([true, own])
    run({ WYNNSYNC_TEST_PART: 'rest', WYNNSYNC_TEST_FRESH: '2' })
    expect(seedsOf(file)).toEqual([own.at(-1), expect.any(Number), expect.any(Number)])
    run({ WYNNSYNC_TEST_PART: 'fresh', WYNNSYNC_TEST_FRESH: '3' })
    expect(new Set([...seedsOf(file), ...seedsOf(file)]).size).toBe(6)
    run({ WYNNSYNC_TEST_PART: 'fresh' })
    expect(seedsOf(file)).toHaveLength(1)
    run({ WYNNSYNC_TEST_SEED: '7', WYNNSYNC_TEST_FRESH: '2' })
    expect(seedsOf(file)).toEqual([7])
    run({})
    expect(() => seedsOf(join(folder, 'sync/none.test.ts'))).toThrow('no seed for test/sync/none.test.ts')
  })

  test('has a line in test/seeds.json, and says in its title which seed it plays', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'))
    const random = files
      .map((name) => ({ name: `test/${name.replaceAll('\\', '/')}`, text: readFileSync(join(folder, name), 'utf8') }))
      .filter(({ text }) => /\bseedsOf\(import/.test(text))
    expect(random.map(({ name }) => name).sort()).toEqual(Object.keys(kept).sort())
    expect(random.filter(({ text }) => !/each\((seeds|seedsOf\(.*?\))\)\([^)]*?seed %i/.test(text))).toEqual([])
  })
})

test('a seed that failed is kept once, and how it is repeated is one command', async () => {
  run({ WYNNSYNC_TEST_PART: 'fresh', WYNNSYNC_TEST_FRESH: '9', WYNNSYNC_TEST_MUTATIONS: '50' })
  const into = join(await temporaryFolder(), 'seeds.json')
  await writeFile(into, '{ "test/a.test.ts": [1], "test/b.test.ts": [2, 3] }')
  const failed = ['some (seed 44) > one', 'some (seed 44) > another', 'some (seed 1)', 'of no seed']
  const again = (seed: number) =>
    `WYNNSYNC_TEST_SEED=${seed} WYNNSYNC_TEST_MUTATIONS=50 npx vitest run --config test/vitest.config.ts test/a.test.ts -t 'seed ${seed}'`
  expect(keepFailedSeeds('test/a.test.ts', failed, into)).toEqual([
    `seed 44 failed, and is kept in test/seeds.json. Again: ${again(44)}`,
    `seed 1 failed, and is kept in test/seeds.json. Again: ${again(1)}`,
  ])
  expect(keepFailedSeeds('test/c.test.ts', failed, into)).toEqual([])
  expect(await readFile(into, 'utf8')).toBe('{\n  "test/a.test.ts": [1, 44],\n  "test/b.test.ts": [2, 3]\n}\n')
})
