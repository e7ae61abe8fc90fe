import { tmpdir } from 'node:os'
import { openServer } from '../../src/db/server/server.ts'
import { type RunningPostgres, startBinaries } from '../support/postgres-binaries.ts'
import { startContainer } from '../support/postgres-docker.ts'

/** A real Postgres, found as the tests find theirs. */
export interface BenchPostgres {
  /** Where it came from. */
  readonly taken: string
  /** Makes an empty database and gives its URL; `stop` drops it. */
  createDatabase(name: string): Promise<string>
  stop(): Promise<void>
}

export async function startPostgres(): Promise<BenchPostgres> {
  const postgres = await firstThatWorks()
  const made: string[] = []
  const asAdmin = async (statement: string) => {
    const admin = await openServer(postgres.url)
    await admin.query(statement).finally(() => admin.close())
  }
  return {
    taken: postgres.taken,
    createDatabase: async (name) => {
      const unique = `bench_${name}_${process.pid}`
      await asAdmin(`create database ${unique} template template0`)
      made.push(unique)
      const url = new URL(postgres.url)
      url.pathname = `/${unique}`
      return url.href
    },
    stop: async () => {
      for (const name of made) await asAdmin(`drop database if exists ${name} with (force)`)
      await postgres.stop()
    },
  }
}

async function firstThatWorks(): Promise<RunningPostgres> {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, taken: 'TEST_DATABASE_URL', stop: async () => {} }
  // On a disk, as those have who use the program.
  return await startContainer().catch(() => startBinaries({ place: tmpdir() }))
}
