import { spawn } from 'node:child_process'
import { mkdir, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { createBrotliDecompress } from 'node:zlib'
import { FatalError } from '../../base/errors.ts'
import { syncFolder, syncNames } from './sync-files.ts'
import { unpack } from './tar.ts'

/**
 * Runs in the child: makes the cluster and leaves it cleanly shut down. Nothing makes a database from the two templates,
 * which are half of the files.
 */
export const CREATE = `
const [engine, folder] = process.argv.slice(1)
const { PGlite } = require(engine)
const create = async () => {
  const created = await PGlite.create({ dataDir: folder, initDbStartParams: ['--wal-segsize=1'] })
  await created.exec('update pg_database set datistemplate = false')
  for (const name of ['template0', 'template1']) await created.exec('drop database ' + name)
  await created.close()
}
create().catch((error) => {
  console.error(error)
  process.exit(1)
})
`

/** Reads the archive of a cluster, packed with brotli; undefined when there is none that may be used. */
export type Template = () => Promise<Uint8Array | undefined>

/**
 * Makes a new PGlite cluster at `folder` (mode 0700). It appears there complete or not at all: a killed attempt leaves a
 * folder beside it, which the next attempt throws away. The caller holds the data folder's lock.
 *
 * All clusters of one template have one system identifier. It tells servers apart that send each other their logs, which
 * these cannot (max_wal_senders = 0).
 *
 * Without a template it is an empty one, made in a process of its own, because initdb takes some 700 MB that PGlite gives
 * back late; opening an existing cluster takes 130 MB. Log segments of 1 MB (not 16) keep a young database small on disk.
 *
 * @returns whether it was made from the template
 * @throws FatalError with the child's stderr, when it fails
 */
export async function createCluster(
  folder: string,
  { durable, template }: { readonly durable: boolean; readonly template?: Template | undefined },
): Promise<boolean> {
  const draft = `${folder}.new`
  const clear = () => rm(draft, { recursive: true, force: true })
  await clear()
  const archive = await template?.()
  try {
    if (archive) await unpack(Readable.from([archive]), draft, createBrotliDecompress())
    else {
      await mkdir(draft, { recursive: true, mode: 0o700 })
      await runNode(CREATE, [createRequire(import.meta.url).resolve('@electric-sql/pglite'), draft])
    }
    if (durable) await syncFolder(draft)
    await rename(draft, folder)
  } catch (error) {
    // On a full disk it would take the room that others need.
    await clear()
    throw error
  }
  if (durable) await syncNames(dirname(folder))
  return archive !== undefined
}

async function runNode(program: string, args: readonly string[]): Promise<void> {
  // Its few seconds are too short for V8's optimizing compiler to pay: without it they take a third less.
  const flags = ['--liftoff-only', '--input-type=commonjs']
  const child = spawn(process.execPath, [...flags, '--eval', program, '--', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const outcome = await new Promise<string | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve(code === 0 ? null : (signal ?? `exit code ${code}`)))
  })
  if (outcome !== null)
    throw new FatalError(`the embedded database could not be created (${outcome}): ${output.trim().slice(-2000)}`)
}
