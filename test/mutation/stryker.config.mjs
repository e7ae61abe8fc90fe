import { readFileSync } from 'node:fs'
import process from 'node:process'

const part = process.env.WYNNSYNC_TEST_MUTATED
const { mutate } = JSON.parse(readFileSync(new URL('parts.json', import.meta.url), 'utf8'))[part]

/** `file#one..other`: of a file that also asks a database only its pure functions, from one declaration to before the other, or to its end. */
function rangeOf(place) {
  const [path, names] = place.split('#')
  if (!names) return path
  const lines = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').split('\n')
  const [first, end] = names.split('..').map((name) => {
    if (!name) return lines.length - 1
    const index = lines.findIndex((line) =>
      new RegExp(`^(export )?(const|function|interface|type) ${name}\\b`).test(line),
    )
    if (index < 0) throw new Error(`${path} declares no ${name}`)
    return index
  })
  return `${path}:${first + 1}-${end}`
}

export default {
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  mutate: mutate.map(rangeOf),
  ignorePatterns: ['*', '!src', '!src/**', '!test', '!test/**', '!package.json', '!tsconfig.json'],
  tempDirName: 'dist/mutation',
  // Vitest checks no types, and the compiler of this repository cannot be called.
  tsconfigFile: 'none',
  disableTypeChecks: false,
  coverageAnalysis: 'perTest',
  incremental: true,
  incrementalFile: `node_modules/.cache/wynnsync-mutation/${part}.json`,
  reporters: ['clear-text'],
  clearTextReporter: { reportTests: false, allowColor: false },
  thresholds: { high: 95, low: 90, break: 85 },
}
