import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'

/** Why a file was not read, as the end of a sentence about it. */
type Unread = { readonly problem: string }

/**
 * Reads a file of a folder of any origin: only a regular file, and only inside the folder, wherever
 * absolute paths, `..` and symbolic links lead.
 */
export function readFileInside(
  folder: string,
  name: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Buffer<ArrayBuffer> | Unread {
  if (isAbsolute(name) || name.split(/[\\/]/).includes('..')) return outside
  try {
    const file = realpathSync(join(folder, name))
    const way = relative(realpathSync(folder), file)
    if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return outside
    const status = statSync(file)
    if (!status.isFile()) return { problem: 'is not a file' }
    if (status.size > maxBytes) return { problem: `is larger than ${megabytes(maxBytes)}` }
    return readFileSync(file)
  } catch {
    return { problem: 'cannot be read' }
  }
}

const outside: Unread = { problem: 'is outside of the folder of recordings' }

/** A limit in words. */
export function megabytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MB`
}
