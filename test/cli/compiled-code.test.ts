import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { compiledCode } from '../../src/cli/compiled-code.ts'
import { temporaryFolder } from '../support/postgres.ts'

/** Node as it is before 22.1, whichever runs the tests. */
const node20 = {} as never

let folder: string
let kept: string

beforeEach(async () => {
  folder = await temporaryFolder()
  kept = join(folder, 'kept')
  writeFileSync(join(folder, 'twice.cjs'), 'exports.twice = (n) => 2 * n; exports.here = __filename')
  writeFileSync(
    join(folder, 'main.cjs'),
    `const { twice } = require('./twice.cjs'); exports.four = () => twice(require('node:path').sep.length + 1)`,
  )
})

/** A process that loads the modules, uses them, and keeps what was compiled. */
function run({ edition = 'one', use = 'sync', into = kept } = {}, node = node20): unknown {
  const compiled = compiledCode({ folder, kept: into, edition, use }, node)
  const { four } = compiled.load('main.cjs') as { four(): number }
  expect(compiled.load('main.cjs')).toHaveProperty('four', four)
  const result = four()
  compiled.keep()
  return result
}

/** The kept files, below their editions. */
const files = () => readdirSync(kept, { recursive: true, encoding: 'utf8' }).filter((name) => /\/./.test(name))
const only = () => join(kept, files()[0] ?? '')

describe('compiled code', () => {
  test('is kept for its owner only, and used: the second process writes nothing', () => {
    expect(run()).toBe(4)
    expect(files()).toEqual([expect.stringMatching(/^one-.*\/sync$/)])
    expect(statSync(only()).mode & 0o777).toBe(0o600)
    const { ino, mtimeMs } = statSync(only())
    expect(run()).toBe(4)
    expect(statSync(only())).toMatchObject({ ino, mtimeMs })
  })

  test('is of an edition and a use; another edition replaces it', () => {
    run()
    run({ use: 'status' })
    expect(files()).toHaveLength(2)
    run({ edition: 'two' })
    expect(files()).toEqual([expect.stringMatching(/^two-.*\/sync$/)])
  })

  test.each(['cut', 'changed', 'emptied'])('is not used when its file is %s, and is written again', (how) => {
    run()
    const good = readFileSync(only())
    const bad = Buffer.from(good)
    bad[bad.length - 20] = (bad.at(-20) ?? 0) ^ 1
    writeFileSync(only(), how === 'changed' ? bad : good.subarray(0, how === 'cut' ? good.length / 2 : 0))
    expect(run()).toBe(4)
    expect(readFileSync(only()).subarray(0, 32)).not.toEqual(bad.subarray(32, 64))
    const { mtimeMs } = statSync(only())
    run()
    expect(statSync(only()).mtimeMs).toBe(mtimeMs)
  })

  test('is not kept where nothing can be written, without an error', () => {
    writeFileSync(join(folder, 'file'), '')
    expect(run({ into: join(folder, 'file') })).toBe(4)
    expect(run({ into: '/proc/x/y' })).toBe(4)
  })

  test('is left to Node where it keeps it itself', () => {
    const folders: string[] = []
    expect(run({}, { enableCompileCache: (into: string) => folders.push(into) } as never)).toBe(4)
    expect(folders).toEqual([kept])
    mkdirSync(kept, { recursive: true })
    expect(files()).toEqual([])
  })
})
