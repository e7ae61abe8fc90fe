import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    dir: 'test',
    include: ['**/*.test.ts'],
    globalSetup: ['test/support/postgres-global.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
})
