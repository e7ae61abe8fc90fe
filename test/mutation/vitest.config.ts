import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const parts = JSON.parse(readFileSync(new URL('parts.json', import.meta.url), 'utf8'))

// Without the databases of the other tests: the parts are pure.
export default defineConfig({
  test: { include: parts[process.env.WYNNSYNC_TEST_MUTATED ?? ''].tests, testTimeout: 60_000 },
})
