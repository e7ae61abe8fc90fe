import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder and its missing parents, for its owner only; an existing folder stays as it is. `mkdir` with
 * `recursive` repeats for ever where the kernel returns ENOENT below a folder that exists, such as `/proc`.
 * @throws the system's error, with its code
 */
export function createFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'EEXIST' && statSync(path).isDirectory()) return
    if (error.code !== 'ENOENT' || isFolder(dirname(path))) throw error
    createFolder(dirname(path))
    mkdirSync(path, { mode: 0o700 })
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/**
 * Replaces a file as a whole, readable by its owner only: another process sees the old one or the new one. Creates its folder.
 * @throws the system's error, with its code
 */
export function replaceFile(file: string, text: string): void {
  createFolder(dirname(file))
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
