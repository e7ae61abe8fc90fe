import { posix } from 'node:path'
import { isUuid } from '../../api/schemas/form/limits.ts'
import type { Worklist } from '../declare/resource.ts'
import type { JsonFile } from './git-copies.ts'
import { globOf, stemOf } from './git-globs.ts'

/** A file that looks like responses of a worklist. */
interface KeyedFile {
  readonly file: JsonFile
  readonly resource: Worklist
  /** Of how many keys. */
  readonly count: number
}

/** Files with responses of a worklist, and the glob that names them alone. */
interface KeyedFiles extends Omit<KeyedFile, 'file'> {
  readonly glob: string
  readonly files: readonly JsonFile[]
}

/** So many folders beside each other, with a file each that is called alike, are of a key each. */
const FEW_FOLDERS = 3

const folderOf = ({ glob }: JsonFile) => posix.dirname(glob)

/** What files in folders beside each other are called together. */
const besideOf = ({ glob }: JsonFile) => posix.join(posix.dirname(posix.dirname(glob)), '*', posix.basename(glob))

/**
 * The files with responses of worklists: of folders beside each other those that are called alike (`players/{name}/stats.json`), of a folder
 * all, or where others are among them, those that match; and each that has several keys.
 * @param found those that were read
 * @param foreign those that were read, and are something else
 * @param all also those that were not read
 */
export function keyedGroups(
  found: readonly KeyedFile[],
  foreign: readonly JsonFile[],
  all: readonly JsonFile[],
): readonly KeyedFiles[] {
  const strangers = new Set(foreign.map(besideOf))
  const folders = new Map<string, Set<string>>()
  for (const { file, count } of found)
    if (count === 1) folders.set(besideOf(file), (folders.get(besideOf(file)) ?? new Set()).add(folderOf(file)))
  const groups = new Map<string, KeyedFile[]>()
  for (const one of found) {
    const isBeside = (folders.get(besideOf(one.file))?.size ?? 0) >= FEW_FOLDERS && !strangers.has(besideOf(one.file))
    const place = one.count > 1 ? one.file.glob : isBeside ? besideOf(one.file) : folderOf(one.file)
    const name = `${place} ${one.resource.name}`
    groups.set(name, [...(groups.get(name) ?? []), one])
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const { file, resource, count } = first
    if (count > 1) return { resource, count, glob: file.glob, files: [file] }
    if (group.some((one) => folderOf(one.file) !== folderOf(file))) {
      const glob = besideOf(file)
      return { resource, count, glob, files: all.filter((other) => besideOf(other) === glob) }
    }
    const files = group.map((one) => one.file)
    return { resource, count, ...inFolder(files, foreign, all) }
  })
}

function inFolder(files: readonly JsonFile[], foreign: readonly JsonFile[], all: readonly JsonFile[]) {
  const [first] = files
  const isHere = (file: JsonFile) => first !== undefined && folderOf(file) === folderOf(first)
  const strangers = foreign.filter(isHere)
  const byUuid = strangers.length > 0 && !strangers.some(({ path }) => isUuid(stemOf(path)))
  const matches = all.filter((file) => isHere(file) && (!byUuid || isUuid(stemOf(file.path))))
  const isAll = strangers.length === 0 || (byUuid && files.some(({ path }) => isUuid(stemOf(path))))
  return { glob: globOf(files, isAll ? (byUuid ? uuidGlob : '*') : undefined), files: isAll ? matches : files }
}

const uuidGlob = [8, 4, 4, 4, 12].map((length) => '?'.repeat(length)).join('-')
