import { readFileSync } from 'node:fs'
import process from 'node:process'

const part = process.env.WYNNSYNC_TEST_MUTATED
const { mutate } = JSON.parse(readFileSync(new URL('parts.json', import.meta.url), 'utf8'))[part]

export default {
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  mutate,
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
