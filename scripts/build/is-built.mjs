import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What a build is made from. */
const sources = ['src', 'migrations', 'scripts', 'package.json', 'tsconfig.json', 'node_modules/.package-lock.json']

/** Whether the last file of a build is there, and newer than all that it was made from. */
export function isBuilt(root) {
  const built = statSync(join(root, 'dist/cluster/cluster.json'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return sources.every((name) => newest(join(root, name)) < built)
}

function newest(path) {
  const found = statSync(path, { throwIfNoEntry: false })
  const names = found?.isDirectory() ? readdirSync(path) : []
  return Math.max(found?.mtimeMs ?? 0, ...names.map((name) => newest(join(path, name))))
}
