import { hash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { constants, createBrotliCompress } from 'node:zlib'
import * as z from 'zod'
import type { Clock } from '../../base/clock.ts'
import { openEmbedded } from '../embedded/embedded.ts'
import { CREATE } from '../embedded/embedded-create.ts'
import { openEngine } from '../embedded/embedded-engine.ts'
import { pack } from '../embedded/tar.ts'
import { type MigrateOptions, migrate } from './migrate.ts'
import { INSTALLED } from './run-migrations.ts'
import { hashOfAll, readJournal, readScript } from './scripts.ts'

/*
 * A migrated cluster without any data, made when the package is built: to unpack it takes a fraction of the time and the
 * memory that initdb and all migrations take. It is used by exactly the program that it was made for.
 */

/** Raise it when `makeTemplate` makes something else of the same files. */
const FORMAT = 1

const label = z.object({
  /** Hash of everything that the cluster depends on. */
  madeFor: z.string(),
  /** SHA-256 of the archive: brotli has no checksum. */
  sha256: z.string(),
})

/** What the cluster is migrated with. */
export type Installed = Omit<MigrateOptions, 'clock' | 'again'>

const files = (folder: string) => ({ label: join(folder, 'cluster.json'), archive: join(folder, 'cluster.tar.br') })

/** The archive in `folder`; undefined when it is missing, damaged, or made for another program. */
export async function readTemplate(folder: string, installed: Installed): Promise<Uint8Array | undefined> {
  try {
    const { madeFor, sha256 } = label.parse(JSON.parse(await readFile(files(folder).label, 'utf8')))
    const archive = await readFile(files(folder).archive)
    return madeFor === (await dependencies(installed)) && sha256 === hash('sha256', archive) ? archive : undefined
  } catch {
    return undefined
  }
}

/** Makes the archive in `folder`, unless it is there. */
export async function makeTemplate(folder: string, installed: Installed, clock: Clock): Promise<void> {
  if (await readTemplate(folder, installed)) return
  await mkdir(folder, { recursive: true })
  const draft = await mkdtemp(join(folder, 'draft-'))
  try {
    const db = await openEmbedded(draft, { clock, durable: false })
    await migrate(db, { ...installed, clock })
    await db.close()
    await shrink(join(draft, 'postgres'))
    const compress = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
    await pack(join(draft, 'postgres'), files(draft).archive, { compress })
    const sha256 = hash('sha256', await readFile(files(draft).archive))
    await writeFile(files(draft).label, JSON.stringify({ madeFor: await dependencies(installed), sha256 }))
    // It may be installed by one user and run by another.
    await chmod(files(draft).archive, 0o644)
    await rename(files(draft).archive, files(folder).archive)
    await rename(files(draft).label, files(folder).label)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Leaves out what the migrations left behind: a third of the catalog, and all of the log. */
async function shrink(cluster: string): Promise<void> {
  const parameters = ['-c', 'wal_recycle=off', '-c', 'min_wal_size=2MB']
  const engine = await openEngine(cluster, { durable: false, parameters })
  await engine.exec(`update sync.installed_program set installed_at = '-infinity'`)
  await engine.exec(`update sync.installed_sql set installed_at = '-infinity'`)
  // Not the tables of the program: to the planner, one that was vacuumed while it was empty stays small.
  const { rows } = await engine.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r'`,
  )
  await engine.exec(`vacuum full ${rows.map(({ name }) => name).join(', ')}`)
  await engine.exec('checkpoint')
  await engine.close()
}

async function dependencies({ folder, repeatable, version }: Installed): Promise<string> {
  const migrations = (await readJournal(folder)).map(({ tag, when }) => ({
    name: `${when} ${tag}`,
    path: join(folder, `${tag}.sql`),
  }))
  const scripts = await Promise.all([...migrations, ...repeatable].map(readScript))
  const engine = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const { version: engineVersion } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(join(engine, '../../package.json'), 'utf8')))
  const statements = [INSTALLED, CREATE]
  return hash('sha256', JSON.stringify([FORMAT, version, engineVersion, hashOfAll(scripts), ...statements]))
}
