import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Reporter } from 'vitest/node'
import { chosenPart, ofPart } from './parts.ts'

const root = join(import.meta.dirname, '../..')
const keptFile = join(root, 'test/seeds.json')

/** By test file. */
function keptSeeds(file = keptFile): Record<string, number[]> {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/**
 * The seeds of the random tests in a file, for `test.each` or `describe.each` with a title that says `seed %i`: those of `test/seeds.json`,
 * and WYNNSYNC_TEST_FRESH new ones. The quick part plays the first, the rest the one that failed last, the long part all; the part
 * `fresh` plays new ones only, WYNNSYNC_TEST_SEED repeats a single one.
 * @param file `import.meta.filename` of the test
 */
export function seedsOf(file: string): readonly number[] {
  const { WYNNSYNC_TEST_SEED: again, WYNNSYNC_TEST_FRESH: fresh } = process.env
  if (again) return [Number(again)]
  const isFresh = chosenPart() === 'fresh'
  const name = nameOf(file)
  const kept = keptSeeds()[name]
  if (kept === undefined) throw new Error(`test/seeds.json has no seed for ${name}`)
  const drawn = Array.from({ length: Number(fresh || (isFresh ? 1 : 0)) }, () => randomInt(1, 2 ** 31))
  if (isFresh) return drawn
  return [...ofPart({ quick: kept.slice(0, 1), rest: kept.slice(-1), long: kept }), ...drawn]
}

const nameOf = (file: string) => relative(root, file).split(sep).join('/')

/** Keeps each seed that failed, and says how it is played again: at once, so that a run that is stopped after hours says it too. */
export const failedSeedsReporter: Reporter = {
  onTestCaseResult(one) {
    if (one.result().state === 'failed') keep(one.module.moduleId, [one.fullName])
  },
  // A suite that failed before its tests.
  onTestSuiteResult(suite) {
    if (suite.errors().length > 0) keep(suite.module.moduleId, [suite.fullName])
  },
}

function keep(file: string, failed: readonly string[]): void {
  for (const line of keepFailedSeeds(nameOf(file), failed)) process.stderr.write(`${line}\n`)
}

/** @param failed names of tests, and of `describe`s that failed before their tests */
export function keepFailedSeeds(file: string, failed: readonly string[], into = keptFile): string[] {
  const seeds = [...new Set(failed.flatMap((name) => /\bseed (\d+)/.exec(name)?.slice(1) ?? []))].map(Number)
  const all = keptSeeds(into)
  const own = all[file]
  if (seeds.length === 0 || own === undefined) return []
  all[file] = [...new Set([...own, ...seeds])]
  const lines = Object.entries(all).map(([name, list]) => `  ${JSON.stringify(name)}: [${list.join(', ')}]`)
  writeFileSync(into, `{\n${lines.join(',\n')}\n}\n`)
  return seeds.map((seed) => `seed ${seed} failed, and is kept in test/seeds.json. Again: ${commandOf(file, seed)}`)
}

/** How far the tests went belongs to it: a longer one draws other things. */
function commandOf(name: string, seed: number): string {
  const others = ['WYNNSYNC_TEST_PART', 'WYNNSYNC_TEST_FRESH', 'WYNNSYNC_TEST_SEED']
  const lengths = Object.entries(process.env).filter(
    ([key, value]) => key.startsWith('WYNNSYNC_TEST_') && !others.includes(key) && value,
  )
  const settings = [['WYNNSYNC_TEST_SEED', seed], ...lengths].map((pair) => pair.join('='))
  return `${settings.join(' ')} npx vitest run --config test/vitest.config.ts ${name} -t 'seed ${seed}'`
}
