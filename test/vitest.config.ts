import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { chosenPart, filesOf } from './support/parts.ts'
import { reachedReporter } from './support/reached.ts'
import { rulesReporter } from './support/rules.ts'
import { failedSeedsReporter } from './support/seeds.ts'

export default defineConfig({
  test: {
    dir: 'test',
    include: filesOf(chosenPart()),
    ...(chosenPart() === 'fresh' && { testNamePattern: /\bseed \d/ }),
    reporters: ['default', failedSeedsReporter, reachedReporter, rulesReporter],
    // A program that has no state outside of what it is given needs no process of its own for each file.
    isolate: false,
    setupFiles: ['test/support/each-file.ts'],
    globalSetup: ['test/support/postgres-global.ts'],
    // Of the servers of the tests on this machine, also where the tester has a proxy.
    env: { NO_PROXY: 'localhost,127.0.0.1,[::1]', no_proxy: 'localhost,127.0.0.1,[::1]' },
    // A machine that is busy with other things takes several times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // There are more workers than cores: helpers of the garbage collection would only wait for each other, and with
    // little room for new objects it would come a dozen times as often.
    execArgv: ['--single-threaded-gc', '--min-semi-space-size=16', '--max-semi-space-size=32'],
    // More than there are cores: some tests wait for a rate limit or for another process, and those of commands more than others.
    maxWorkers: Math.min(4, availableParallelism() + (chosenPart() === 'rest' ? 2 : 1)),
  },
})
