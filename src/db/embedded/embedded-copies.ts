import { constants, createReadStream, existsSync } from 'node:fs'
import { copyFile, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { codeOf, FatalError, messageOf, reach } from '../../base/errors.ts'
import { createCluster, type Template } from './embedded-create.ts'
import { DamagedCluster, type EngineOptions, openEngine as openHere } from './embedded-engine.ts'
import { ThreadEngine } from './engine-thread.ts'
import { bootId } from './folder-lock.ts'
import type { Engine } from './remote-engine.ts'
import { syncFolder, syncNames } from './sync-files.ts'
import { DamagedArchive, pack, unpack } from './tar.ts'

/** A copy of the cluster, `backups/<number>-<instant>.tar.gz`. */
interface Copy {
  readonly path: string
  /** Counts up: the order of the copies, whatever the clock. */
  readonly number: number
  readonly takenAt: Date
}

const KEPT_COPIES = 2
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** In bytes of the log. With less than that in it, a database is made anew as quickly as it is restored. */
const WORTH_A_COPY_BYTES = 4 * 1024 * 1024

const COPIES = 'backups'
const copiesFolder = (dataDir: string): string => join(dataDir, COPIES)
/** There while the copies have what must not come back; what is in it tells one call from the next. */
const outdatedFile = (dataDir: string): string => join(dataDir, COPIES, 'outdated')

/** Lets whichever process has the cluster open make a copy as soon as it can, and delete the others: they have what was removed. */
export async function outdateCopies(dataDir: string): Promise<void> {
  if (existsSync(copiesFolder(dataDir)))
    await writeFile(outdatedFile(dataDir), `${process.pid} ${process.hrtime.bigint()}`, { flush: true, mode: 0o600 })
}

async function readOutdated(dataDir: string): Promise<string | undefined> {
  return await readFile(outdatedFile(dataDir), 'utf8').catch(() => undefined)
}
/** An archive that is not complete yet. */
const draftOf = (dataDir: string): string => join(copiesFolder(dataDir), 'draft')

/** The copies of a data folder, the newest first. */
async function listCopies(dataDir: string): Promise<Copy[]> {
  const folder = copiesFolder(dataDir)
  const names = await readdir(folder).catch(() => [])
  const copies = names.flatMap((name) => {
    const [, number, instant = ''] = /^(\d{6})-(\d{8}T\d{6}Z)\.tar\.gz$/.exec(name) ?? []
    const takenAt = new Date(instant.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'))
    return number === undefined ? [] : [{ path: join(folder, name), number: Number(number), takenAt }]
  })
  return copies.sort((a, b) => b.number - a.number)
}

const inName = (at: Date): string => at.toISOString().replace(/[-:]|\.\d+/g, '')

/** Where the files of every table and index are, and how far the log goes. */
interface ClusterState {
  readonly relations: ReadonlySet<string>
  readonly logEnd: bigint
  /** The file of the log that is written now; those with later names hold nothing yet. */
  readonly logFile: string
}

type Statements = Pick<Engine, 'query' | 'exec'>

/** Writes a checkpoint and returns the state of the files in the folder. */
async function checkpoint(session: Statements): Promise<ClusterState> {
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
 * @throws the reason of `signal`
 */
async function findDamage(
  folder: string,
  { relations, logEnd }: ClusterState,
  signal?: AbortSignal,
): Promise<string | undefined> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    signal?.throwIfAborted()
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(folder.length + 1).replaceAll('\\', '/')
    if (!entry.isFile() || !relations.has(name.replace(/\.\d+$/, ''))) continue
    const fault = await findBadPage(path, logEnd)
    if (fault) return `${name}: ${fault}`
  }
  return undefined
}

/** How often a session that waits for the copying of files says that it goes on, ms. */
const SAY_EVERY_MS = 5000

/**
 * Copies the files of the cluster in `<dataDir>/postgres` as they are in a transaction, sharing their blocks where the file system can. Other
 * transactions wait meanwhile.
 */
export async function duplicateCluster(session: Statements, dataDir: string, to: string): Promise<ClusterState> {
  const folder = join(dataDir, 'postgres')
  const state = await checkpoint(session)
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true, mode: 0o700 })
  let said = performance.now()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const target = join(to, entry.parentPath.slice(folder.length), entry.name)
    const isEmptyLog = /^[0-9A-F]{24}$/.test(entry.name) && entry.name > state.logFile
    if (entry.isDirectory()) await mkdir(target, { recursive: true, mode: 0o700 })
    else if (entry.isFile() && !isEmptyLog) {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await copyFile(join(entry.parentPath, entry.name), target, constants.COPYFILE_FICLONE)
    }
    if (performance.now() - said < SAY_EVERY_MS) continue
    // One of another process that rests for long is ended.
    await session.query('select 1')
    said = performance.now()
  }
  return state
}

export type DailyCopy = Awaited<ReturnType<typeof dailyCopies>>

interface CopyOptions {
  readonly clock: Clock
  /** Called with the reason when there is no copy. */
  readonly report: (message: string) => void
  /** Whether the cluster has just been made, and holds nothing but its tables. */
  readonly isFromTemplate: boolean
  /** Aborted when the process is to end: a copy that is under way is given up, and the next process makes it. */
  readonly ending?: AbortSignal | undefined
}

/**
 * Keeps two copies of an open cluster, the newer one at most a day old. A process that stays makes one each day, one that
 * comes and goes makes it when it ends, unless a signal ends it; one is made at once where the copies are outdated. Transactions wait only while files are duplicated; packing runs
 * beside them.
 * A cluster with a damaged page is not copied, so that the copies stay good.
 */
export async function dailyCopies(
  engine: Engine,
  dataDir: string,
  { clock, report, isFromTemplate, ending }: CopyOptions,
) {
  const openedAt = clock.now()
  const start = await writtenTo(engine)
  let triedAt = (await listCopies(dataDir))[0]?.takenAt.getTime()
  let failedAt: number | undefined
  let packing: Promise<void> | undefined

  /** Absolute: a copy from the future means that a clock was wrong. */
  const isOld = (at: number, age: number) => Math.abs(clock.now() - at) >= age

  async function begin(): Promise<void> {
    const takenAt = new Date(clock.now())
    triedAt = takenAt.getTime()
    const duplicated = join(copiesFolder(dataDir), 'duplicate')
    const outdated = await readOutdated(dataDir)
    try {
      const state = await engine.transaction((session) => duplicateCluster(session, dataDir, duplicated))
      packing = keep(dataDir, duplicated, { state, takenAt, outdated, signal: ending })
        .catch(failed)
        .finally(() => {
          packing = undefined
        })
    } catch (error) {
      await failed(error)
    }

    async function failed(error: unknown): Promise<void> {
      failedAt = takenAt.getTime()
      for (const left of [duplicated, draftOf(dataDir)])
        await rm(left, { recursive: true, force: true }).catch(() => {})
      if (ending?.aborted) return
      const last = (await listCopies(dataDir))[0]?.takenAt.toISOString() ?? 'none'
      report(
        `no copy of the embedded database in ${dataDir} could be made (the last one: ${last}): ${messageOf(error)}`,
      )
    }
  }

  return {
    /** Call it when no transaction is open: begins a copy when one is due. */
    afterTransaction: async () => {
      const isOutdated = existsSync(outdatedFile(dataDir)) && (failedAt === undefined || isOld(failedAt, HOUR))
      const isDue = isOutdated || (triedAt === undefined ? isOld(openedAt, HOUR) : isOld(triedAt, DAY))
      if (isDue && !packing) await begin()
    },
    /** Makes a copy when one is due and something was written; waits for one that is under way. Neither when a signal ends the process. */
    finish: async () => {
      await packing
      if (ending?.aborted) return
      const isOutdated = existsSync(outdatedFile(dataDir))
      const isDue = isOutdated || triedAt === undefined || isOld(triedAt, DAY)
      // A failed engine has no answer any more; the next process checks what is on the disk.
      const now = isDue ? await writtenTo(engine).catch(() => start) : start
      const least = isFromTemplate ? WORTH_A_COPY_BYTES : 0
      if (isOutdated || (now.transaction !== start.transaction && now.log - start.log >= least)) await begin()
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

/** Makes the archive of a duplicate and deletes the copies that are too many. @throws the reason of `signal` */
async function keep(
  dataDir: string,
  duplicated: string,
  {
    state,
    takenAt,
    outdated,
    signal,
  }: { state: ClusterState; takenAt: Date; outdated: string | undefined; signal: AbortSignal | undefined },
): Promise<void> {
  const damage = await findDamage(duplicated, state, signal)
  if (damage) throw new Error(`the database is damaged, ${damage}`)
  const number = ((await listCopies(dataDir))[0]?.number ?? 0) + 1
  const name = `${String(number).padStart(6, '0')}-${inName(takenAt)}.tar.gz`
  const folder = copiesFolder(dataDir)
  const draft = draftOf(dataDir)
  await pack(duplicated, draft, { signal })
  await rename(draft, join(folder, name))
  await syncNames(folder)
  await rm(duplicated, { recursive: true, force: true })
  const kept = outdated === undefined ? KEPT_COPIES : 1
  for (const { path } of (await listCopies(dataDir)).slice(kept)) await rm(path, { force: true })
  // A later call stays for the next copy.
  if (outdated !== undefined && (await readOutdated(dataDir)) === outdated) await rm(outdatedFile(dataDir))
}

/*
 * Postgres writes a checksum into each page of a table or index when the page leaves its buffers, and checks it only
 * when it reads the page again. Here whole files are checked, by the same algorithm (src/include/storage/checksum_impl.h
 * of PostgreSQL: 32 FNV-1a hashes side by side, folded into 16 bits).
 */

const PAGE_BYTES = 8192
const PAGES_PER_SEGMENT = 131_072
const PAGES_AT_ONCE = 64
const PRIME = 16_777_619

// biome-ignore format: a table
const OFFSETS = new Uint32Array([
  0x5b1f36e9, 0xb8525960, 0x02ab50aa, 0x1de66d2a, 0x79ff467a, 0x9bb9f8a3, 0x217e7cd2, 0x83e13d2c,
  0xf8d4474f, 0xe39eb970, 0x42c6ae16, 0x993216fa, 0x7b093b5d, 0x98daff3c, 0xf718902a, 0x0b1c9cdb,
  0xe58f764b, 0x187636bc, 0x5d7b3bb1, 0xe73de7de, 0x92bec979, 0xcca6c0b2, 0x304a0979, 0x85aa43d4,
  0x783125bb, 0x6ca8eaa2, 0xe407eac6, 0x4b5cfc3e, 0x9fbf8c76, 0x15ca20be, 0xf2ca9fd3, 0x959bd756,
])

/** The checksum of a page, given as its words with the checksum's own field zeroed, at a place in its table. */
function checksumOf(words: Uint32Array, block: number): number {
  const sums = OFFSETS.slice()
  for (let at = 0; at < words.length; at++) {
    const mixed = (sums[at & 31] ?? 0) ^ (words[at] ?? 0)
    sums[at & 31] = Math.imul(mixed, PRIME) ^ (mixed >>> 17)
  }
  for (let at = 0; at < 64; at++) {
    const mixed = sums[at & 31] ?? 0
    sums[at & 31] = Math.imul(mixed, PRIME) ^ (mixed >>> 17)
  }
  const folded = sums.reduce((all, sum) => all ^ sum, block)
  return ((folded >>> 0) % 65_535) + 1
}

/** What is wrong with a page: undefined when nothing is. Postgres compiled to WebAssembly is little-endian, as every machine that runs it. */
function faultOf(words: Uint32Array, block: number, logEnd: bigint): string | undefined {
  const [high = 0, low = 0, checksumAndFlags = 0, lowerAndUpper = 0] = words
  // A page that was reserved and never filled is all zeros.
  if (lowerAndUpper >>> 16 === 0) return words.some((word) => word !== 0) ? 'has no header' : undefined
  words[2] = checksumAndFlags & 0xffff_0000
  if (checksumOf(words, block) !== (checksumAndFlags & 0xffff)) return 'has a wrong checksum'
  return ((BigInt(high) << 32n) | BigInt(low)) > logEnd ? 'is newer than the log' : undefined
}

/**
 * Checks every page of one file of a table or index. No process may write to it meanwhile, and a checkpoint must be past.
 * @param logEnd how far the log goes; a page that is ahead of it belongs to a transaction that the log has lost
 * @returns what is wrong with the first bad page, or undefined
 */
export async function findBadPage(path: string, logEnd: bigint): Promise<string | undefined> {
  const segment = Number(/\.(\d+)$/.exec(path)?.[1] ?? 0)
  const handle = await open(path, 'r')
  try {
    const pages = new Uint32Array((PAGE_BYTES / 4) * PAGES_AT_ONCE)
    const buffer = Buffer.from(pages.buffer)
    for (let block = 0; ; ) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, block * PAGE_BYTES)
      for (let at = 0; at + PAGE_BYTES <= bytesRead; at += PAGE_BYTES, block++) {
        const fault = faultOf(
          pages.subarray(at / 4, (at + PAGE_BYTES) / 4),
          segment * PAGES_PER_SEGMENT + block,
          logEnd,
        )
        if (fault) return `page ${block} ${fault}`
      }
      if (bytesRead % PAGE_BYTES !== 0) return `page ${block} is cut off`
      if (bytesRead < buffer.length) return undefined
    }
  } finally {
    await handle.close()
  }
}

interface OpenOptions extends Omit<EngineOptions, 'shared'> {
  /** The compiled `engine-worker.ts`, when Postgres is to run in a thread of its own. */
  readonly thread?: URL | undefined
  readonly clock: Clock
  /** Called with what was lost. */
  readonly report: (message: string) => void
  /** The archive that a new cluster is unpacked from, when there is one; otherwise it is empty. */
  readonly template?: Template | undefined
}

/**
 * Opens the cluster in `<dataDir>/postgres`: makes a new one when there never was any, and falls back to the newest copy
 * when it is damaged or gone. The caller holds the data folder's lock.
 * @returns the running cluster, and whether it has just been made from the template
 * @throws FatalError when there is no copy, or none that opens
 */
export async function openCluster(
  dataDir: string,
  options: OpenOptions,
): Promise<{ engine: Engine; isFromTemplate: boolean }> {
  const folder = join(dataDir, 'postgres')
  const copies = await listCopies(dataDir)
  const isNew = copies.length === 0 && (await isAbsent(folder))
  const isFromTemplate = isNew && (await createCluster(folder, options))
  try {
    return { engine: await openChecked(dataDir, options), isFromTemplate }
  } catch (error) {
    if (!(error instanceof DamagedCluster)) throw error
    return { engine: await fallBack(dataDir, copies, error.message, options), isFromTemplate: false }
  }
}

function openEngine(folder: string, { thread, durable, parameters = [] }: OpenOptions): Promise<Engine> {
  return thread
    ? ThreadEngine.open(thread, { folder, options: { durable, parameters } })
    : openHere(folder, { durable, parameters })
}

async function isAbsent(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length === 0
}

/**
 * Opens what is there. After a crash of the whole machine every page is checked: a disk that loses
 * acknowledged writes leaves a cluster that opens and is wrong. A process that was killed alone cannot have lost anything.
 */
async function openChecked(dataDir: string, options: OpenOptions): Promise<Engine> {
  const folder = join(dataDir, 'postgres')
  // Without this file PGlite would write a new cluster over the folder.
  if (!existsSync(join(folder, 'PG_VERSION'))) throw new DamagedCluster(`${join(folder, 'PG_VERSION')} is missing`)
  const boot = await bootId()
  const marker = join(dataDir, 'boot')
  const wasThisBoot = boot !== null && (await readFile(marker, 'utf8').catch(() => '')) === boot
  const mustCheck = options.durable && !wasThisBoot && !(await wasShutDown(folder))
  const engine = await openEngine(folder, options)
  if (mustCheck) {
    reach('recovery: pages are checked after a crash of the machine')
    const damage = await findDamage(folder, await checkpoint(engine))
    if (damage) {
      await engine.close().catch(() => {})
      throw new DamagedCluster(damage)
    }
  }
  if (boot !== null && !wasThisBoot) await writeFile(marker, boot, { mode: 0o600 })
  return engine
}

/** Whether the last process shut it down cleanly, by the control file (`state`, the fourth number after the identifier). */
async function wasShutDown(folder: string): Promise<boolean> {
  const control = await readFile(join(folder, 'global', 'pg_control')).catch(() => Buffer.alloc(0))
  const SHUT_DOWN = 1
  return control.length >= 20 && control.readUInt32LE(16) === SHUT_DOWN
}

async function fallBack(
  dataDir: string,
  copies: readonly Copy[],
  reason: string,
  options: OpenOptions,
): Promise<Engine> {
  const folder = join(dataDir, 'postgres')
  const isGone = await isAbsent(folder)
  const aside = `${folder}.damaged-${inName(new Date(options.clock.now()))}`
  for (const copy of copies) {
    const draft = `${folder}.restored`
    try {
      await rm(draft, { recursive: true, force: true })
      await unpack(createReadStream(copy.path), draft)
      await syncFolder(draft)
      if (!isGone && !existsSync(aside)) await rename(folder, aside)
      await rm(folder, { recursive: true, force: true })
      await rename(draft, folder)
      await syncNames(dataDir)
      const engine = await openEngine(folder, options)
      reach('recovery: a damaged database from its copy')
      const kept = isGone ? '' : ` The damaged folder is kept as ${aside}.`
      const back = existsSync(outdatedFile(dataDir)) ? ' Who was purged last may be there again: purge once more.' : ''
      options.report(
        `the embedded database in ${folder} is damaged (${reason}); restored the copy of ${copy.takenAt.toISOString()}: what was recorded after that is missing.${back}${kept}`,
      )
      return engine
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      if (!isUseless(error)) throw error
      reach('recovery: a copy that cannot be used')
      options.report(`the copy ${copy.path} cannot be used: ${messageOf(error)}`)
    }
  }
  throw new FatalError(
    `the embedded database in ${folder} is damaged (${reason}), and ${copiesFolder(dataDir)} has no copy that can be used; restore the folder from a copy of your own, or move it away to begin anew`,
  )
}

/** Whether another copy may be better. A full disk is not the fault of this one. */
function isUseless(error: unknown): boolean {
  if (error instanceof DamagedCluster || error instanceof DamagedArchive) return true
  const code = String(codeOf(error))
  return code === 'EIO' || code.startsWith('Z_')
}
