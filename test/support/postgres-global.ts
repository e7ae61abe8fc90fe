import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openServer } from '../../src/db/server/server.ts'
import { type RunningPostgres, startBinaries } from './postgres-binaries.ts'
import { startContainer } from './postgres-docker.ts'
import { forgetReached } from './reached.ts'
import { scratchFolder } from './scratch-folder.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A database URL whose user may create databases. */
    serverUrl: string
    /** A folder for what the tests of this run share; gone when they end. */
    runFolder: string
    /** Name of the migrated server database that others are copied from. */
    templateName: string
  }
}

/** Finds one real Postgres for the whole run, and says which. Without one no test runs: skipping would look like passing. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  forgetReached()
  const postgres = await firstThatWorks()
  const runFolder = await mkdtemp(join(scratchFolder(), 'wynnsync-tests-'))
  process.stdout.write(`Postgres for the tests: ${postgres.taken}\n`)
  project.provide('serverUrl', postgres.url)
  project.provide('runFolder', runFolder)
  const templateName = `template_${process.pid}_${Date.now()}`
  project.provide('templateName', templateName)
  return async () => {
    try {
      // Matters for a server that outlives the run.
      const admin = await openServer(postgres.url)
      const made = await admin.values('select datname from pg_database where starts_with(datname, $1)', [templateName])
      for (const [name] of made) await admin.query(`drop database if exists ${name} with (force)`)
      await admin.close()
    } finally {
      await postgres.stop()
      await rm(runFolder, { recursive: true, force: true })
    }
  }
}

async function firstThatWorks(): Promise<RunningPostgres> {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, taken: 'TEST_DATABASE_URL', stop: async () => {} }
  const failures: string[] = []
  // Those that are asked for, and no others.
  for (const start of process.env.WYNNSYNC_TEST_POSTGRES_BIN ? [startBinaries] : [startContainer, startBinaries]) {
    try {
      return await start()
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new Error(`no Postgres for the tests; set TEST_DATABASE_URL. Tried: ${failures.join('; ')}`)
}
