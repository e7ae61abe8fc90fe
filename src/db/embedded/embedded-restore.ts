import { createReadStream, existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { codeOf, FatalError, messageOf, reach } from '../../base/errors.ts'
import { type Copy, checkpoint, copiesFolder, findDamage, inName, listCopies } from './embedded-copies.ts'
import { createCluster, type Template } from './embedded-create.ts'
import { DamagedCluster, type EngineOptions, openEngine as openHere } from './embedded-engine.ts'
import { ThreadEngine } from './engine-thread.ts'
import { bootId } from './folder-lock.ts'
import type { Engine } from './remote-engine.ts'
import { syncFolder, syncNames } from './sync-files.ts'
import { DamagedArchive, unpack } from './tar.ts'

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
      options.report(
        `the embedded database in ${folder} is damaged (${reason}); restored the copy of ${copy.takenAt.toISOString()}: what was recorded after that is missing.${kept}`,
      )
      return engine
    } catch (error) {
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
