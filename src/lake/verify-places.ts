import { FatalError, messageOf, UsageError } from '../base/errors.ts'
import { collectWrong } from '../sync/verify/check.ts'
import type { Verified } from '../sync/verify/verify.ts'
import { MANIFEST, NoBackup, readManifest } from './backup/manifest.ts'
import { INDEX, type LakeFile, lakeState, parseIndex } from './index-file.ts'
import type { StoreSettings } from './lake-store.ts'
import { sealFault } from './read/index-form.ts'
import { type LakePlace, openPlace } from './read/place.ts'
import { openStore } from './store.ts'

interface Options {
  readonly settings: StoreSettings
  readonly signal?: AbortSignal | undefined
  readonly isBrief?: boolean
}

type Hashed = Pick<LakeFile, 'path' | 'bytes' | 'sha256'>

/**
 * Reads every file of a lake, or with `isBrief` those of its newest month, and holds it against its index; changes nothing.
 * @throws UsageError when nothing was exported there; the store's error where a bucket is away
 */
export async function verifyLake(place: string, options: Options): Promise<Verified[]> {
  const opened = openPlace(place, options.settings)
  const text = await opened.text(INDEX, options.signal)
  const wrong = collectWrong()
  let files: readonly LakeFile[] = []
  try {
    files = parseIndex(text, place).files
    for (const table of new Set(files.map((file) => file.table))) {
      const problem = await problemOfTable(opened, table, files, options.signal)
      if (problem !== undefined) wrong.add({ file: `${table}/${INDEX}`, problem })
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    wrong.add({ file: INDEX, problem: messageOf(error) })
  }
  return [
    { ...lakeIndex, ...found(wrong) },
    { ...lakeFile, ...(await wrongFiles(place, options.isBrief ? newestOf(files) : files, options)) },
  ]
}

/** The same of a lake that is configured: there may be none yet. */
export async function verifyConfiguredLake(place: string, options: Options): Promise<Verified[]> {
  const isThere = await lakeState(place, options.settings, options.signal).catch(() => true)
  return isThere ? await verifyLake(place, options) : []
}

function newestOf(files: readonly LakeFile[]): readonly LakeFile[] {
  const newest = files.reduce((latest, { month }) => (month !== null && month > latest ? month : latest), '')
  return files.filter(({ month }) => month === newest)
}

/**
 * Reads every file of a backup, and holds it against its list; changes nothing.
 * @throws NoBackup when there is none; the store's error where a bucket is away
 */
export async function verifyBackup(place: string, options: Options): Promise<Verified[]> {
  const wrong = collectWrong()
  let files: readonly Hashed[] = []
  try {
    const manifest = await readManifest(await openStore(place, options.settings), options.signal)
    if (!manifest) throw new NoBackup(`there is no backup in ${place}`)
    files = manifest.files
  } catch (error) {
    if (!(error instanceof UsageError) || error instanceof NoBackup) throw error
    wrong.add({ file: MANIFEST, problem: messageOf(error) })
  }
  return [
    { ...backupList, ...found(wrong) },
    { ...backupFile, ...(await wrongFiles(place, files, options)) },
  ]
}

const lakeIndex = {
  check: 'lake index',
  table: INDEX,
  meaning:
    'indexes of the lake that cannot be read, or differ from that of one table; without them, `lake export` writes them anew',
}
const lakeFile = {
  check: 'lake file',
  table: '*.parquet',
  meaning:
    'files of the lake that are missing, or are not what its index says; without them, `lake export` writes them anew',
}
const backupList = {
  check: 'backup list',
  table: MANIFEST,
  meaning: 'a list of the files of the backup that cannot be read; without it, `backup` writes all anew',
}
const backupFile = {
  check: 'backup file',
  table: '*.copy.gz',
  meaning:
    'files of the backup that are missing, or are not what its list says; without them, `backup` writes them anew',
}

const found = ({ wrong, examples }: ReturnType<typeof collectWrong>) => ({ wrong, examples: [...examples] })

async function wrongFiles(place: string, files: readonly Hashed[], { settings, signal }: Options) {
  const wrong = collectWrong()
  const opened = openPlace(place, settings)
  for (const file of files) {
    signal?.throwIfAborted()
    try {
      await opened.fetch(file, null, signal)
    } catch (error) {
      signal?.throwIfAborted()
      // A file that must not be read may be right.
      if ((error as Error).constructor !== FatalError) throw error
      wrong.add({ file: file.path, problem: messageOf(error) })
    }
  }
  return found(wrong)
}

/** What an index of one table says otherwise than that of the lake: either is wrong then. */
async function problemOfTable(
  opened: LakePlace,
  table: string,
  files: readonly LakeFile[],
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const own = files.filter((file) => file.table === table)
  try {
    const text = await opened.text(`${table}/${INDEX}`, signal)
    const of = JSON.parse(text) as { readonly table?: unknown; readonly files?: unknown }
    const fault = sealFault(of)
    if (fault !== undefined) return fault
    const isSame = of.table === table && JSON.stringify(of.files) === JSON.stringify(own)
    return isSame ? undefined : `it says of its files something else than ${INDEX}`
  } catch (error) {
    if (error instanceof SyntaxError) return 'it is no JSON'
    if (error instanceof FatalError || error instanceof UsageError) return messageOf(error)
    throw error
  }
}
