import { constants } from 'node:fs'
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { FatalError, messageOf } from '../../base/errors.ts'
import { findBadPage } from './page-check.ts'
import type { Engine } from './remote-engine.ts'
import { syncNames } from './sync-files.ts'
import { pack } from './tar.ts'

/** A copy of the cluster, `backups/<number>-<instant>.tar.gz`. */
export interface Copy {
  readonly path: string
  /** Counts up: the order of the copies, whatever the clock. */
  readonly number: number
  readonly takenAt: Date
}

const KEPT = 2
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** In bytes of the log. With less than that in it, a database is made anew as quickly as it is restored. */
const WORTH_A_COPY = 4 * 1024 * 1024

export const copiesFolder = (dataDir: string): string => join(dataDir, 'backups')

/** The copies of a data folder, the newest first. */
export async function listCopies(dataDir: string): Promise<Copy[]> {
  const folder = copiesFolder(dataDir)
  const names = await readdir(folder).catch(() => [])
  const copies = names.flatMap((name) => {
    const [, number, instant = ''] = /^(\d{6})-(\d{8}T\d{6}Z)\.tar\.gz$/.exec(name) ?? []
    const takenAt = new Date(instant.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'))
    return number === undefined ? [] : [{ path: join(folder, name), number: Number(number), takenAt }]
  })
  return copies.sort((a, b) => b.number - a.number)
}

export const inName = (at: Date): string => at.toISOString().replace(/[-:]|\.\d+/g, '')

/** Where the files of every table and index are, and how far the log goes. */
export interface ClusterState {
  readonly relations: ReadonlySet<string>
  readonly logEnd: bigint
  /** The file of the log that is written now; those with later names hold nothing yet. */
  readonly logFile: string
}

type Statements = Pick<Engine, 'query' | 'exec'>

/** Writes a checkpoint and returns the state of the files in the folder. */
export async function checkpoint(session: Statements): Promise<ClusterState> {
  const { rows } = await session.query<{ path: string }>(
    `select pg_relation_filepath(oid) as path from pg_class where pg_relation_filepath(oid) is not null`,
  )
  await session.exec('checkpoint')
  const [log] = (
    await session.query<{ end: string; file: string }>(
      `select (pg_current_wal_insert_lsn() - '0/0')::text as end, pg_walfile_name(pg_current_wal_insert_lsn()) as file`,
    )
  ).rows
  return {
    relations: new Set(rows.map(({ path }) => path)),
    logEnd: BigInt(log?.end ?? 0),
    logFile: log?.file ?? '',
  }
}

/**
 * Checks every page of every table and index in a folder without a writer. Maps of free and of visible space are
 * left out: Postgres makes bad ones anew; so are files that no table has, which a killed process may leave half written.
 * @returns what is wrong and where, or undefined
 */
export async function findDamage(folder: string, { relations, logEnd }: ClusterState): Promise<string | undefined> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(folder.length + 1).replaceAll('\\', '/')
    if (!entry.isFile() || !relations.has(name.replace(/\.\d+$/, ''))) continue
    const fault = await findBadPage(path, logEnd)
    if (fault) return `${name}: ${fault}`
  }
  return undefined
}

/** Copies the files of a checkpoint, sharing their blocks where the file system can. */
async function duplicate(folder: string, to: string, { logFile }: ClusterState): Promise<void> {
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const target = join(to, entry.parentPath.slice(folder.length), entry.name)
    const isEmptyLog = /^[0-9A-F]{24}$/.test(entry.name) && entry.name > logFile
    if (entry.isDirectory()) await mkdir(target, { recursive: true, mode: 0o700 })
    else if (entry.isFile() && !isEmptyLog) {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await copyFile(join(entry.parentPath, entry.name), target, constants.COPYFILE_FICLONE)
    }
  }
}

export type DailyCopy = Awaited<ReturnType<typeof dailyCopies>>

interface CopyOptions {
  readonly clock: Clock
  /** Called with the reason when there is no copy. */
  readonly report: (message: string) => void
  /** Whether the cluster has just been made, and holds nothing but its tables. */
  readonly isFromTemplate: boolean
}

/**
 * Keeps two copies of an open cluster, the newer one at most a day old. A process that stays makes one each day, one that
 * comes and goes makes it when it ends. Transactions wait only while files are duplicated; packing runs beside them.
 * A cluster with a damaged page is not copied, so that the copies stay good.
 */
export async function dailyCopies(engine: Engine, dataDir: string, { clock, report, isFromTemplate }: CopyOptions) {
  const folder = join(dataDir, 'postgres')
  const openedAt = clock.now()
  const start = await writtenTo(engine)
  let triedAt = (await listCopies(dataDir))[0]?.takenAt.getTime()
  let packing: Promise<void> | undefined

  /** Absolute: a copy from the future means that a clock was wrong. */
  const isOld = (at: number, age: number) => Math.abs(clock.now() - at) >= age

  async function begin(): Promise<void> {
    const takenAt = new Date(clock.now())
    triedAt = takenAt.getTime()
    const duplicated = join(copiesFolder(dataDir), 'duplicate')
    try {
      const state = await engine.transaction(async (session) => {
        const now = await checkpoint(session)
        await duplicate(folder, duplicated, now)
        return now
      })
      packing = keep(dataDir, duplicated, state, takenAt)
        .catch(failed)
        .finally(() => {
          packing = undefined
        })
    } catch (error) {
      await failed(error)
    }

    async function failed(error: unknown): Promise<void> {
      await rm(duplicated, { recursive: true, force: true }).catch(() => {})
      const last = (await listCopies(dataDir))[0]?.takenAt.toISOString() ?? 'none'
      report(
        `no copy of the embedded database in ${dataDir} could be made (the last one: ${last}): ${messageOf(error)}`,
      )
    }
  }

  return {
    /** Call it when no transaction is open: begins a copy when one is due. */
    afterTransaction: async () => {
      const isDue = triedAt === undefined ? isOld(openedAt, HOUR) : isOld(triedAt, DAY)
      if (isDue && !packing) await begin()
    },
    /** Makes a copy when one is due and something was written; waits for one that is under way. */
    finish: async () => {
      await packing
      const isDue = triedAt === undefined || isOld(triedAt, DAY)
      // A failed engine has no answer any more; the next process checks what is on the disk.
      const now = isDue ? await writtenTo(engine).catch(() => start) : start
      const least = isFromTemplate ? WORTH_A_COPY : 0
      if (now.transaction !== start.transaction && now.log - start.log >= least) await begin()
      await packing
    },
  }
}

/** The next transaction, and how far the log goes in bytes. */
async function writtenTo(engine: Engine): Promise<{ transaction: string; log: number }> {
  const { rows } = await engine.query<{ transaction: string; log: number }>(
    `select pg_snapshot_xmax(pg_current_snapshot())::text as transaction,
            (pg_current_wal_insert_lsn() - '0/0')::float8 as log`,
  )
  const [row] = rows
  if (!row) throw new FatalError('the embedded database does not say how far it is')
  return row
}

/** Makes the archive of a duplicate and deletes the copies that are too many. */
async function keep(dataDir: string, duplicated: string, state: ClusterState, takenAt: Date): Promise<void> {
  const damage = await findDamage(duplicated, state)
  if (damage) throw new Error(`the database is damaged, ${damage}`)
  const number = ((await listCopies(dataDir))[0]?.number ?? 0) + 1
  const name = `${String(number).padStart(6, '0')}-${inName(takenAt)}.tar.gz`
  const folder = copiesFolder(dataDir)
  const draft = join(folder, 'draft')
  await pack(duplicated, draft)
  await rename(draft, join(folder, name))
  await syncNames(folder)
  await rm(duplicated, { recursive: true, force: true })
  for (const { path } of (await listCopies(dataDir)).slice(KEPT)) await rm(path, { force: true })
}
