import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { RetryableError, UsageError } from '../../base/errors.ts'
import { visibleLine } from '../../base/terminal-text.ts'
import { type LakeStore, WRITING } from '../lake-store.ts'
import { sealed, sealFault } from '../read/index-form.ts'

/** What a backup consists of; the only file that is replaced, and the last one to be written. */
export const MANIFEST = 'backup.json'

/** What the names of the files with rows end in: the text format of COPY, compressed. */
export const ENDING = '.copy.gz'

/** The version of the form; a reader refuses a higher one. */
export const FORMAT = 1

const hex = z.string().regex(/^[0-9a-f]{64}$/)
const name = z.string().regex(/^[a-z_][a-z_0-9]{0,62}$/)
const tableName = z.string().regex(/^(game|sync)\.[a-z_][a-z_0-9]{0,62}$/)
const count = z.int().nonnegative()
const number = z.string().regex(/^\d{1,20}$/)

const file = z
  .object({
    path: z.string(),
    table: tableName,
    /** `2026-05` (UTC); `none`: the rows of a table by months that have no month; null: the whole table. */
    month: z
      .string()
      .regex(/^(\d{4,6}-(0[1-9]|1[0-2])|none)$/)
      .nullable(),
    rows: count,
    bytes: count,
    sha256: hex,
    /** SHA-256 of the names of its columns. */
    schema: hex,
    /** The oldest transaction that ran when it was read: later ones are not in it. */
    transaction: number,
  })
  .refine((one) => one.path === pathOf(one), 'its path is not that of its table and month')

const manifest = z.object({
  format: z.int().min(1),
  program: z.string().regex(/^[\w.+-]{1,60}$/),
  /** When the backup began to read, ISO 8601. */
  at: z.iso.datetime(),
  /** Which database it was, as a hash. */
  source: hex,
  /** The latest run, with the transaction that wrote it: a database that was restored has another. */
  lastRun: z.object({ run: z.guid(), transaction: number }).nullable(),
  /** The newest migration of its tables. */
  migration: z.string().regex(/^[\w-]{1,100}$/),
  tables: z.array(
    z.object({
      name: tableName,
      columns: z.array(name),
      partitions: z.array(
        z.object({
          schema: name,
          name,
          bound: z
            .string()
            .regex(/^(DEFAULT|FOR VALUES FROM \(('[-+:. 0-9]+'|MINVALUE)\) TO \(('[-+:. 0-9]+'|MAXVALUE)\))$/),
        }),
      ),
    }),
  ),
  sequences: z.array(z.object({ name: tableName, last: number })),
  files: z.array(file),
})

export type Manifest = z.infer<typeof manifest>

/** A manifest with the text of it that lies at its place. */
export type StoredManifest = Manifest & { readonly text: string }

export type BackupFile = z.infer<typeof file>

/** The path of a file below the place: of what is in it, so that none is ever replaced by another. */
export function pathOf({
  table,
  month,
  sha256,
}: {
  readonly table: string
  readonly month: string | null
  readonly sha256: string
}): string {
  return `${table}/${month === null ? '' : `month=${month}/`}${sha256.slice(0, 20)}${ENDING}`
}

/** Whether a path is one that a backup makes. */
export function isBackupPath(path: string): boolean {
  return /^[a-z_]+\.[a-z_0-9]+\/(month=[-\w]+\/)?[0-9a-f]{20}\.copy\.gz$/.test(path)
}

/** Nothing was put there yet. */
export class NoBackup extends UsageError {}

/** For the user of a place with a list that is damaged. */
const MEND = 'copy the backup there again; where the database still is, remove this file and back up anew'

/** @returns undefined where there is no backup @throws UsageError when its manifest is none, or of a newer format */
export async function readManifest(store: LakeStore, signal?: AbortSignal): Promise<StoredManifest | undefined> {
  const text = await store.readText(MANIFEST, signal)
  if (text === undefined) return undefined
  const place = `${store.place.replace(/\/$/, '')}/${MANIFEST}`
  const value = parsed(text)
  const format = (value as { format?: unknown } | undefined)?.format
  if (typeof format === 'number' && format > FORMAT)
    throw new UsageError(`${place} has format ${format}; this version reads ${FORMAT}`)
  const read = manifest.safeParse(value)
  if (read.success) {
    const fault = sealFault(value)
    if (fault !== undefined) throw new UsageError(`${place} is not as it was written: ${fault}; ${MEND}`)
    return { ...read.data, text }
  }
  const [issue] = read.error.issues
  const reason =
    value === undefined
      ? 'it is no JSON, or JSON that ended early'
      : visibleLine(`${issue?.path.join('.').slice(0, 100)}: ${issue?.message}`)
  throw new UsageError(`${place} is not that of a backup: ${reason}; ${MEND}`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Puts a manifest in place of the one before: what reads it sees one of the two.
 * @returns its text @throws RetryableError when another backup was put there meanwhile; that one stays
 */
export async function writeManifest(
  store: LakeStore,
  written: Manifest,
  before: StoredManifest | undefined,
): Promise<string> {
  // What could not be read again takes the place of nothing.
  manifest.parse(written)
  const draft = join(store.work, WRITING, MANIFEST)
  const text = `${JSON.stringify(sealed(written), null, 1)}\n`
  await writeFile(draft, text, { flush: true, mode: 0o600 })
  if (await store.replace(draft, MANIFEST, before?.text)) return text
  throw new RetryableError(`another process has put its backup into ${store.place} meanwhile, which stays`)
}
