import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inject, onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { lockFolder } from '../../src/db/embedded/folder-lock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { afterwards } from './afterwards.ts'
import { effort } from './effort.ts'
import { ofPart } from './parts.ts'

/** For `describe.each`: every promise about a database is kept by both. */
export const bothKinds = ['embedded', 'server'] as const

/** The same for what takes some time: the quick part of the tests tries the server only, and the rest the other one. */
export const kindsOfPart: readonly Database['kind'][] = ofPart({ quick: ['server'], rest: ['embedded'] })

/**
 * The same for what takes long and is SQL, which is the same in both: each run tries the server, and the long part the other one. What differs
 * (copies, sessions, notifications, files) has tests that try both in each run.
 */
export const kindsAtNight: readonly Database['kind'][] = ofPart({
  quick: ['server'],
  rest: ['server'],
  long: ['embedded'],
})

/** The same for what takes long: both with WYNNSYNC_TEST_FULL=1, otherwise the quicker one. */
export const kindsOfLongTests: readonly Database['kind'][] = effort.everyAnswer ? bothKinds : ['server']

interface Wanted {
  /** With the program's tables and views (the default), or quite empty. */
  readonly migrated?: boolean
  /** A database, or the folder of an embedded one, that it is a copy of. */
  readonly template?: string
}

/** A database of its own for the calling test (or file, when called outside of a test); closed and dropped after it. */
export async function testDatabase(kind: Database['kind'], wanted: Wanted = {}): Promise<Database> {
  if (kind === 'embedded') {
    const db = await openEmbedded(await testDataDir(wanted), { clock: systemClock, durable: false })
    afterwards(() => db.close())
    return db
  }
  const db = await openServer(await testDatabaseUrl(wanted))
  afterwards(() => db.close())
  return db
}

/** URL of a server database as `testDatabase` makes it, for tests of the command line. */
export async function testDatabaseUrl({ migrated = true, template }: Wanted = {}): Promise<string> {
  const from = template ?? (migrated ? await migratedTemplate() : 'template0')
  const name = await makeDatabase(`test_${randomName()}`, from)
  // `force`: a test that failed may have left sessions open.
  afterwards(() => asAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`)))
  return urlOf(name)
}

/** A migrated database that is there until the run ends. */
export async function keptDatabase(kind: Database['kind']): Promise<Database> {
  if (kind === 'server') {
    const template = await migratedTemplate()
    return await openServer(urlOf(await makeDatabase(`${template}_${randomName()}`, template)))
  }
  const folder = await mkdtemp(join(inject('runFolder'), 'folder-'))
  await copyFolder(await embeddedTemplate(true), folder)
  return await openEmbedded(folder, { clock: systemClock, durable: false })
}

/** Databases for tests of the calling file, each a copy of one that is filled once: to copy a database costs less than to sync what is in it. */
export function copiesOf(fill: (db: Database) => Promise<void>): (kind: Database['kind']) => Promise<Database> {
  const filled = new Map<Database['kind'], Promise<string>>()
  return async (kind) => {
    const made = filled.get(kind) ?? filledOnce(kind, fill)
    filled.set(kind, made)
    return await testDatabase(kind, { template: await made })
  }
}

/** The same for all files of the run, with what `fill` returns: the first file that needs it fills it. */
export async function copyForAll<T>(
  kind: Database['kind'],
  name: string,
  fill: (db: Database) => Promise<T>,
): Promise<{ readonly db: Database; readonly filled: T }> {
  const made = await once(`${kind}-${name}`, async (folder) => {
    let filled: T | undefined
    const template = await filledOnce(kind, async (db) => {
      filled = await fill(db)
    })
    await writeFile(join(folder, 'made.json'), JSON.stringify({ template, filled }))
  })
  const { template, filled } = JSON.parse(await readFile(join(made, 'made.json'), 'utf8'))
  return { db: await testDatabase(kind, { template }), filled }
}

/** Returns what a copy is made from: the name of a database, or the folder of an embedded one. Nothing is connected to it. */
async function filledOnce(kind: Database['kind'], fill: (db: Database) => Promise<void>): Promise<string> {
  if (kind === 'embedded') {
    const folder = await mkdtemp(join(inject('runFolder'), 'folder-'))
    await copyFolder(await embeddedTemplate(true), folder)
    const db = await openEmbedded(folder, { clock: systemClock, durable: false })
    await fill(db).finally(() => db.close())
    return folder
  }
  const template = await migratedTemplate()
  const name = await makeDatabase(`${template}_${randomName()}`, template)
  const db = await openServer(urlOf(name))
  await fill(db).finally(() => db.close())
  return name
}

const randomName = () => randomUUID().replaceAll('-', '')

async function makeDatabase(name: string, template: string): Promise<string> {
  // A copy of its files costs a third of writing each page into the log.
  await asAdmin(async (admin) => {
    await admin.query(`create database ${name} template ${template} strategy file_copy`)
    // What a database sets for itself is not copied with it.
    if (template !== 'template0') await admin.query(`alter database ${name} set jit = off`)
  })
  return name
}

/** A data folder with an embedded database in it, not open. */
export async function testDataDir({ migrated = true, template }: Wanted = {}): Promise<string> {
  const from = template ?? (await embeddedTemplate(migrated))
  const dataDir = await temporaryFolder()
  await copyFolder(from, dataDir)
  return dataDir
}

/** An empty folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(inject('runFolder'), 'folder-'))
  afterwards(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

function urlOf(database: string): string {
  const url = new URL(inject('serverUrl'))
  url.pathname = `/${database}`
  return url.href
}

async function asAdmin<T>(work: (admin: Database) => Promise<T>): Promise<T> {
  const admin = await openServer(inject('serverUrl'))
  try {
    return await work(admin)
  } finally {
    await admin.close()
  }
}

/** The test files run side by side, and the first one that needs a template makes it for all. */
async function once(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(inject('runFolder'), name)
  const done = join(folder, 'done')
  if (existsSync(done)) return join(folder, 'made')
  const unlock = await lockFolder(folder, { clock: systemClock, waitMs: 280_000 })
  try {
    if (!existsSync(done)) {
      const made = join(folder, 'made')
      await rm(made, { recursive: true, force: true })
      await mkdir(made)
      await make(made)
      await writeFile(done, '')
    }
    return join(folder, 'made')
  } finally {
    await unlock()
  }
}

async function migratedTemplate(): Promise<string> {
  const name = inject('templateName')
  await once('server-migrated', async () => {
    await asAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`))
    await asAdmin((admin) => admin.query(`create database ${name} template template0`))
    const db = await openServer(urlOf(name))
    await migrateAll(db)
    await db.close()
  })
  return name
}

async function embeddedTemplate(migrated: boolean): Promise<string> {
  return once(migrated ? 'embedded-migrated' : 'embedded-empty', async (folder) => {
    const db = await openEmbedded(folder, {
      clock: systemClock,
      durable: false,
      ...(migrated && { template: clusterTemplate }),
    })
    if (migrated) await migrateAll(db)
    await db.close()
  })
}

/** The migrated cluster that a build of these sources makes; from the last build when nothing has changed since. */
export async function clusterTemplate(): Promise<Uint8Array | undefined> {
  const { makeTemplate, template } = await import('../../src/app/app.ts')
  const kept = join(import.meta.dirname, '../../node_modules/.cache/wynnsync')
  await makeTemplate(kept)
  return template(kept)
}

/** A cluster is a thousand small files, which cp(1) copies several times faster than Node. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-R', `${from}/.`, to])
}

/** Brings a database to what the program wants. */
export async function migrateAll(db: Database): Promise<void> {
  const { migrateDatabase } = await import('../../src/app/app.ts')
  await migrateDatabase(db, { clock: systemClock })
}

/** The same database for a user who may not write. */
export async function readOnlyUser(url: string): Promise<string> {
  const name = `ro_${new URL(url).pathname.slice(-12)}`
  const db = await openServer(url)
  const [owner] = await db.query<{ name: string }>('select quote_ident(current_user) as name')
  await db.query(`create role ${name} login password 'of the reader' in role ${owner?.name}`)
  await db.query(`alter role ${name} set default_transaction_read_only = on`)
  onTestFinished(async () => {
    await db.query(`drop role ${name}`)
    await db.close()
  })
  const own = new URL(url)
  own.username = name
  own.password = 'of the reader'
  return own.href
}
