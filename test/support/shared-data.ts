import { onTestFinished } from 'vitest'
import { systemClock as clock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openShared } from '../../src/db/embedded/shared-folder.ts'
import { testDataDir } from './postgres.ts'

export const thread = new URL('../../dist/program/engine-worker.mjs', import.meta.url)

type Shares = 'reads' | 'writes' | undefined

/** A data folder, as a process opens it that shares it; closed after the test. */
export async function openData(dataDir: string, shares?: Shares, waitMs = 0): Promise<Database> {
  const db = await openShared(dataDir, { clock, shares, waitMs, thread, random: Math.random })
  onTestFinished(() => db.close())
  return db
}

/** A data folder without a database. */
export const emptyFolder = () => testDataDir({ migrated: false })
