import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { setImmediate as immediate } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { codeOf, FatalError, messageOf, reach, UsageError } from '../../base/errors.ts'
import type { Database, Sql } from '../../db/database.ts'
import { listTables } from '../../db/move/copied-table.ts'
import { matchPartitions, setSequences } from '../../db/move/copy-table.ts'
import { filledTables, forgetCopied } from '../../db/move/move.ts'
import {
  beginProgress,
  endProgress,
  isMoveUnfinished,
  readProgress,
  recordCopied,
} from '../../db/move/move-progress.ts'
import { setTextForm } from '../../db/move/table-digest.ts'
import { sqlState } from '../../db/sql-errors.ts'
import type { StoreSettings } from '../lake-store.ts'
import { type LakePlace, openPlace } from '../read/place.ts'
import { inWorkFolder } from '../read/work-folder.ts'
import { openStore } from '../store.ts'
import { newestMigration, recordRestored } from './backup.ts'
import { type BackupFile, type Manifest, NoBackup, readManifest } from './manifest.ts'

interface RestoreOptions {
  readonly signal?: AbortSignal | undefined
  /** For a place that is no folder. */
  readonly settings?: StoreSettings | undefined
  /** Called while files are held against their hashes: how many are, of how many. */
  readonly onChecked: (files: number, of: number) => void
  /** Called while rows are loaded: the table, and how many of all are in the database. */
  readonly onProgress: (table: string, rows: number, of: number) => void
}

export interface Restored {
  /** When the backup began to read. */
  readonly at: string
  /** Version of the program that made it. */
  readonly program: string
  readonly files: number
  readonly bytes: number
  readonly tables: readonly { readonly table: string; readonly rows: number }[]
  readonly rows: number
  /** Tables that an earlier call had loaded. */
  readonly resumed: number
}

/** How much text goes into the database at once, in characters, and how many rows at most. */
const CHUNK_CHARACTERS = 2_000_000
const CHUNK_ROWS = 20_000

/** The text of the longest row, in characters: a body of 64 MB, with two digits for each byte. */
const ROW_CHARACTERS = 200_000_000

type TextRow = (string | null)[]

/**
 * Loads a backup into a database that is migrated and empty: each table in one transaction, after every file was read once and held
 * against its hash. Interrupted at any instant, the next call goes on with the tables that are not whole; until it is done, nothing
 * else opens the database.
 * @throws UsageError when there is no backup, when it is of other tables than this program's, when the database has rows of its own
 * @throws FatalError that names the file which is not what the backup wrote; nothing is changed then
 */
export async function restoreDatabase(target: Database, place: string, options: RestoreOptions): Promise<Restored> {
  const manifest = await readManifest(await openStore(place, options.settings), options.signal)
  if (!manifest) throw new NoBackup(`there is no backup in ${place}`)
  await refuseOtherTables(target, manifest)
  const files = openPlace(place, options.settings)
  const loaded = await loadedBefore(target, manifest)
  await checkFiles(files, manifest, options)
  if (!(await isMoveUnfinished(target))) await target.transaction(beginProgress)
  await inWorkFolder((folder) => loadTables({ target, manifest, files, folder, loaded }, options))
  await setSequences(target, manifest.sequences)
  await target.transaction(async (sql) => {
    await recordRestored(sql, manifest)
    await endProgress(sql)
  })
  if (target.kind === 'server') await target.query('analyze')
  const tables = manifest.tables.map(({ name }) => ({ table: name, rows: rowsOf(filesOf(manifest, name)) }))
  const { at, program } = manifest
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
  const sizes = { files: manifest.files.length, bytes, rows: rowsOf(manifest.files), resumed: loaded.size }
  return { at, program, tables, ...sizes }
}

const filesOf = ({ files }: Manifest, table: string) => files.filter((file) => file.table === table)

const rowsOf = (files: readonly BackupFile[]) => files.reduce((sum, { rows }) => sum + rows, 0)

/** @throws UsageError when a database has other tables than the backup, which another version of the program made */
async function refuseOtherTables(target: Database, { tables, migration, program }: Manifest): Promise<void> {
  const textOf = ({ name, columns }: { name: string; columns: readonly string[] }) => `${name} ${columns.join(', ')}`
  const present = new Set((await listTables(target)).map(textOf))
  const isSame = tables.length === present.size && tables.every((table) => present.has(textOf(table)))
  if (isSame && (await newestMigration(target)) === migration) return
  throw new UsageError(
    `the backup was made by wynnsync ${program}, whose tables are others: restore it with that version, and run \`wynnsync migrate\` of this one afterwards`,
  )
}

/** The tables that an interrupted call of the same restore has loaded. @throws UsageError when any other has rows */
async function loadedBefore(target: Database, manifest: Manifest): Promise<ReadonlySet<string>> {
  const progress = (await isMoveUnfinished(target)) ? await readProgress(target) : new Map<string, { digest: string }>()
  const names = [...progress.keys()]
  const other = names.filter((name) => progress.get(name)?.digest !== digestOf(manifest, name))
  const emptied = new Set(await forgetCopied(target, other))
  const loaded = new Set(names.filter((name) => !emptied.has(name)))
  if (loaded.size > 0) reach('recovery: a restore goes on')
  const filled = await filledTables(
    target,
    manifest.tables.filter(({ name }) => !loaded.has(name)),
  )
  if (filled.length === 0) return loaded
  throw new UsageError(
    `${target.place} has data of its own, in ${filled.slice(0, 3).join(', ')}${filled.length > 3 ? ` and ${filled.length - 3} more tables` : ''}: a restore needs an empty database`,
  )
}

/** What tells one state of a table from another: 60 bits of the hash of the hashes of its files. */
function digestOf(manifest: Manifest, table: string): string {
  const hashes = filesOf(manifest, table).map(({ sha256 }) => sha256)
  const hash = createHash('sha256').update(hashes.join(' ')).digest('hex')
  return String(BigInt(`0x${hash.slice(0, 15)}`))
}

/** @throws FatalError that names the file which is missing or not what the backup wrote */
async function checkFiles(place: LakePlace, { files }: Manifest, { signal, onChecked }: RestoreOptions): Promise<void> {
  for (const [nth, file] of files.entries()) {
    onChecked(nth, files.length)
    await place.fetch(file, null, signal).catch((error: unknown) => {
      signal?.throwIfAborted()
      // Of what refuses it, the error itself says more.
      if ((error as Error).constructor !== FatalError) throw error
      const what = `${place.place}: ${file.path} cannot be restored, and nothing was loaded: ${messageOf(error)}`
      throw new FatalError(`${what}; restore from another copy of the backup`, { cause: error })
    })
  }
}

interface Restore {
  readonly target: Database
  readonly manifest: Manifest
  readonly files: LakePlace
  /** A folder of this machine for the file that is being loaded. */
  readonly folder: string
  readonly loaded: ReadonlySet<string>
}

async function loadTables(
  { target, manifest, files, folder, loaded }: Restore,
  { signal, onProgress }: RestoreOptions,
): Promise<void> {
  const total = rowsOf(manifest.files)
  const copy = join(folder, 'rows')
  let done = 0
  for (const { name, columns, partitions } of await ordered(target, manifest)) {
    const own = filesOf(manifest, name)
    if (loaded.has(name)) {
      done += rowsOf(own)
      continue
    }
    const load = async (sql: Sql) => {
      await setTextForm(sql)
      await matchPartitions(sql, name, partitions)
      let rows = 0
      for (const file of own) {
        await files.fetch(file, copy, signal)
        for await (const chunk of readFile(copy)) {
          signal?.throwIfAborted()
          if (rows + chunk.length > rowsOf(own))
            throw new FatalError(`it has more rows than the ${rowsOf(own)} that are listed`)
          rows += await sql.copy(name, columns, chunk)
          done += chunk.length
          onProgress(name, done, total)
          // The embedded database answers without a turn for timers and signals.
          await immediate()
        }
      }
      if (rows !== rowsOf(own)) throw new FatalError(`it has ${rows} rows instead of ${rowsOf(own)}`)
      await recordCopied(sql, name, { rows, digest: digestOf(manifest, name) })
    }
    await target.transaction(load).catch((error: unknown) => {
      signal?.throwIfAborted()
      if (!isOfBackup(error)) throw error
      const what = `${files.place}: ${name} cannot be restored: ${messageOf(error)}`
      const state = `the tables before it are loaded, and nothing else opens ${target.place} until a restore is done`
      throw new FatalError(`${what}; ${state}: restore from another copy of the backup`, { cause: error })
    })
  }
}

/** Whether an error says what is wrong with a backup: data that Postgres refuses (classes 22 and 23), or that is not packed as it was. */
function isOfBackup(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined ? error instanceof FatalError || /^Z_/.test(String(codeOf(error))) : /^2[23]/.test(state)
}

/** The tables of a backup, one that others refer to before them. */
async function ordered(target: Sql, { tables }: Manifest): Promise<Manifest['tables']> {
  const byName = new Map(tables.map((table) => [table.name, table]))
  return (await listTables(target)).flatMap(({ name }) => byName.get(name) ?? [])
}

/** The rows of a file in the text format of COPY, so many at a time that a chunk stays small. */
async function* readFile(path: string): AsyncGenerator<TextRow[]> {
  const unzipped = createGunzip().setEncoding('utf8')
  // An error of reading comes where the text is awaited.
  pipeline(createReadStream(path), unzipped, () => undefined)
  let chunk: TextRow[] = []
  let length = 0
  let rest = ''
  for await (const text of unzipped as AsyncIterable<string>) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > ROW_CHARACTERS) throw new FatalError('it has a longer row than any of a backup')
    for (const line of lines) chunk.push(line.split('\t').map(fieldValue))
    length += text.length
    if (length < CHUNK_CHARACTERS && chunk.length < CHUNK_ROWS) continue
    yield chunk
    chunk = []
    length = 0
  }
  if (chunk.length > 0) yield chunk
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** The value of a field; null for `\N`. */
function fieldValue(field: string): string | null {
  if (!field.includes('\\')) return field
  if (field === '\\N') return null
  return field.replace(/\\(.)/gs, (_, escaped: string) => ESCAPES[escaped] ?? escaped)
}
