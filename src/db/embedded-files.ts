import { fsyncSync } from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

/*
 * What makes the embedded database survive a power cut.
 *
 * Postgres orders its writes so that every instant is safe: the log before the data pages, the first image of each page
 * after a checkpoint in the log (full_page_writes), the control file last; and it waits with fsync where the order
 * matters. PGlite turns all of that off: it starts with -F, and its file system has no fsync. Here both are given back,
 * so a transaction is on the disk when its commit returns, and whatever a power cut loses or tears after the last fsync
 * is repaired from the log at the next start, as on a server.
 *
 * Only fsync(2) arrives here: fdatasync(2) ends in a stub inside of PGlite. So wal_sync_method must be fsync.
 */

/** Settings that belong to it. The others it needs are defaults: full_page_writes, synchronous_commit, data_checksums. */
export const DURABLE = ['wal_sync_method = fsync']

/** Without the -F of PGlite. */
export function withFsync(startParams: readonly string[]): string[] {
  return startParams.filter((parameter) => parameter !== '-F')
}

type Initialize = NodeFS['init']
type EmscriptenOptions = Parameters<Initialize>[1]
type Emscripten = Parameters<NonNullable<EmscriptenOptions['preRun']>[number]>[0]

/** What of Emscripten's NODEFS is needed; it has no types. */
interface NodeFiles {
  tryFSOperation(work: () => void): void
  readonly stream_ops: { fsync?: (stream: { readonly nfd: number }) => void }
}

/** PGlite's files in a folder, with fsync. */
export class SyncedFiles extends NodeFS {
  override async init(engine: PGlite, options: EmscriptenOptions): ReturnType<Initialize> {
    const { emscriptenOpts } = await super.init(engine, options)
    const addFsync = (module: Emscripten): void => {
      const files = module.NODEFS as unknown as NodeFiles
      files.stream_ops.fsync = ({ nfd }) => files.tryFSOperation(() => fsyncSync(nfd))
    }
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addFsync] } }
  }
}
