import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { UsageError } from './errors.ts'

/**
 * Creates a folder and its missing parents, for its owner only; an existing folder stays as it is. `mkdir` with
 * `recursive` repeats for ever where the kernel returns ENOENT below a folder that exists, such as `/proc`.
 * @throws UsageError where it belongs to another user, or would be root's in the folder of another user
 * @throws the system's error, with its code
 */
export function createFolder(path: string): void {
  const owner = foreignOwner(path)
  if (owner !== undefined) throw notOwn(path, owner)
  create(path)
}

function create(path: string): void {
  // Root may create anything anywhere, and the user could not even delete it.
  const above = foreignOwner(dirname(path))
  const mayNot = above !== undefined && process.geteuid?.() === 0
  try {
    if (mayNot && !isFolder(path)) throw notOwn(dirname(path), above)
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'EEXIST' && statSync(path).isDirectory()) return
    if (error.code !== 'ENOENT' || isFolder(dirname(path))) throw error
    create(dirname(path))
    mkdirSync(path, { mode: 0o700 })
  }
}

/**
 * The user that a file or folder belongs to, where that is neither this process's nor root, whose folders others are let into by their
 * permissions, such as a volume. Undefined where there is none, and on Windows, which has no such numbers.
 */
function foreignOwner(path: string): number | undefined {
  const own = process.geteuid?.()
  const owner = own === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.uid
  return owner === 0 || owner === own ? undefined : owner
}

/** Files of this process in the place of another user would be unreadable to that user. */
function notOwn(path: string, owner: number): UsageError {
  const own = process.geteuid?.()
  return new UsageError(
    `${path} belongs to the user with number ${owner}, and this process runs as ${own === 0 ? 'root' : `number ${own}`}, whose files that user could not read or replace: run it as that user (sudo -u '#${owner}' wynnsync ...), or name a place of your own; if the place is yours, chown it`,
  )
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/**
 * Replaces a file as a whole, readable by its owner only: another process sees the old one or the new one. Creates its folder.
 * @throws UsageError where the file or its folder belongs to another user
 * @throws the system's error, with its code
 */
export function replaceFile(file: string, text: string): void {
  createFolder(dirname(file))
  const owner = foreignOwner(file)
  if (owner !== undefined) throw notOwn(file, owner)
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    // `wx`: never into a file that another user has put there.
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
