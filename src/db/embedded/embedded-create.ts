import { spawn } from 'node:child_process'
import { mkdir, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { FatalError } from '../../app/errors.ts'
import { syncFolder, syncNames } from './sync-files.ts'

/** Runs in the child: makes the cluster and leaves it cleanly shut down. */
const CREATE = `
const [engine, folder] = process.argv.slice(1)
const { PGlite } = require(engine)
const create = async () => {
  const created = await PGlite.create({ dataDir: folder, initDbStartParams: ['--wal-segsize=1'] })
  await created.close()
}
create().catch((error) => {
  console.error(error)
  process.exit(1)
})
`

/**
 * Makes a new, empty PGlite cluster at `folder` (mode 0700). It appears there complete or not at all: a killed attempt
 * leaves a folder beside it, which the next attempt throws away. The caller holds the data folder's lock.
 *
 * It happens in a process of its own, because initdb takes some 700 MB that PGlite gives back late; opening an existing
 * cluster takes 130 MB. Log segments of 1 MB (not 16) keep a young database at 30 MB on disk.
 *
 * @throws FatalError with the child's stderr, when it fails
 */
export async function createCluster(folder: string): Promise<void> {
  const draft = `${folder}.new`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { recursive: true, mode: 0o700 })
  await runNode(CREATE, [createRequire(import.meta.url).resolve('@electric-sql/pglite'), draft])
  await syncFolder(draft)
  await rename(draft, folder)
  await syncNames(dirname(folder))
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
