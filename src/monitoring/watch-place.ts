import { join } from 'node:path'

/** Path of the file. */
export function watchFileOf({ dataDir }: { readonly dataDir: string }): string {
  return join(dataDir, 'watches.json')
}
