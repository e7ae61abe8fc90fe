import { posix } from 'node:path'
import type { Resource } from '../declare/resource.ts'
import { stemOf } from './git-globs.ts'
import { areMostlyIn, haveSameKeys } from './git-parts.ts'

/** A JSON file of a repository, or files that are called alike but for a date. */
export interface JsonFile {
  /** The latest one. */
  readonly path: string
  readonly glob: string
  readonly paths: ReadonlySet<string>
  /** Their latest versions, the last one first. */
  readonly versions: { readonly commit: string; readonly blob: string }[]
  /** Of the last version. */
  readonly bytes: number
  /** The commits with a version of it, by number. */
  readonly commits: Set<number>
  /** Whether the last commit has none of them. */
  readonly isGone: boolean
}

/** A file that looks like a response of one request. */
export interface Found extends JsonFile {
  readonly resource: Resource
  readonly keys: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
  /** Fields of a record, on average. */
  readonly known: number
  readonly unknown: number
}

interface Parts {
  readonly mapped: Found[]
  readonly copies: Map<Found, Found>
}

/**
 * The files that make the responses of a resource together, and those that are copies, each with what it is a copy of. Files of the last
 * commit decide, and what was removed counts where nothing else had its records at that time.
 * @returns also all of them, the best first
 */
export function partsOfHistory(resource: Resource, found: readonly Found[]): Parts & { readonly sorted: Found[] } {
  const files = [...found].sort(byQuality)
  const { mapped, copies } = partsAmong(
    resource,
    files.filter(({ isGone }) => !isGone),
  )
  const gone = files.filter(({ isGone }) => isGone).sort((a, b) => extentOf(b)[1] - extentOf(a)[1])
  for (const file of gone) {
    const meanwhile = mapped.filter((other) => isMeanwhile(file, other))
    const [copied] = meanwhile.filter((other) => areMostlyIn(file.keys, [other.keys]))
    const isKept =
      copied !== undefined ||
      (meanwhile.length > 0 &&
        areMostlyIn(
          file.keys,
          meanwhile.map(({ keys }) => keys),
        ))
    const isAlike = mapped.length === 0 || mapped.some(({ keys }) => haveSameKeys(keys, file.keys))
    if (!isKept && (isAlike || isJoined(resource))) mapped.push(file)
    else copies.set(file, copied ?? meanwhile[0] ?? mapped[0] ?? file)
  }
  return { mapped, copies, sorted: files }
}

/**
 * First, where one has files of several dates, what has more states; then what has most of what the API sends and least of what it does not, then the shorter file. The names decide first: the
 * raw file is `gear.json` and not `gear_expanded.json`.
 */
function byQuality(a: Found, b: Found): number {
  const states = a.paths.size + b.paths.size > 2 ? statesOf(b) - statesOf(a) : 0
  return states || a.unknown - b.unknown || b.known - a.known || a.bytes - b.bytes || (a.path < b.path ? -1 : 1)
}

function statesOf({ paths, commits }: JsonFile): number {
  return Math.max(paths.size, commits.size)
}

/** Whether two files were there at the same time. */
function isMeanwhile(gone: Found, other: Found): boolean {
  const [from, until] = extentOf(gone)
  const [otherFrom, otherUntil] = extentOf(other)
  return otherFrom <= until && (!other.isGone || from <= otherUntil)
}

/** The first and the last commit with a version of a file. */
function extentOf({ commits }: JsonFile): readonly [first: number, last: number] {
  let first = Infinity
  let last = -Infinity
  for (const nth of commits) [first, last] = [Math.min(first, nth), Math.max(last, nth)]
  return [first, last]
}

/** Whether several files can make a response of a resource. */
function isJoined({ file }: Resource): boolean {
  return (file?.join ?? file?.respondsTo) !== undefined
}

/**
 * The files that make the response of a resource together, and those that are copies, each with what it is a copy of: of files
 * with the same records the first is taken.
 */
function partsAmong(resource: Resource, files: readonly Found[]): Parts {
  const copies = new Map<Found, Found>()
  const parts: Found[] = []
  const dated: Found[] = []
  for (const file of files) {
    const nth = parts.findIndex((part) => haveSameKeys(part.keys, file.keys))
    const first = parts[nth]
    if (!first) parts.push(file)
    else if (isNextOf(file, first)) dated.push(file)
    else if (isRawOf(file, first)) {
      parts[nth] = file
      for (const [copy, of] of copies) if (of === first) copies.set(copy, file)
      copies.set(first, file)
    } else copies.set(file, first)
  }
  const [main, ...others] = parts.sort((a, b) => b.keys.size - a.keys.size)
  if (!main) return { mapped: [], copies }
  const mapped = [main]
  for (const part of others) {
    const kinds = new Set(mapped.flatMap((one) => [...one.kinds]))
    const keys = mapped.map((one) => one.keys)
    const hasKind = [...part.kinds].some((kind) => !kinds.has(kind))
    const isNew = hasKind || resource.file?.respondsTo !== undefined || !isWhole(resource, mapped)
    if (isJoined(resource) && isNew && !areMostlyIn(part.keys, keys)) mapped.push(part)
    else copies.set(part, main)
  }
  const taken = dated.filter((file) =>
    mapped.some((part) => isNextOf(file, part) && haveSameKeys(part.keys, file.keys)),
  )
  for (const file of dated) if (!taken.includes(file)) copies.set(file, main)
  return { mapped: [...mapped, ...taken], copies }
}

/** Whether a file is named as the raw one of which the other is another form: `gear.json` of `gear_expanded.json`. */
function isRawOf(file: Found, other: Found): boolean {
  if (posix.dirname(file.glob) !== posix.dirname(other.glob)) return false
  const name = stemOf(file.path)
  const longer = stemOf(other.path)
  return longer.startsWith(name) ? !/raw/i.test(longer.slice(name.length)) : /raw/i.test(name.replace(longer, ''))
}

/** Whether files have all that a resource has, as far as that is known. */
function isWhole({ file, backfill }: Resource, files: readonly Found[]): boolean {
  const records = file?.records ?? backfill?.keys
  return records === undefined || 2 * new Set(files.flatMap(({ keys }) => [...keys])).size >= records
}

/** Whether files are states of different times, such as `2024.json` or `v2.1/items.json`: called alike but for numbers, and no commit has both. */
function isNextOf(one: Found, other: Found): boolean {
  const [name, otherName] = [one, other].map(({ path }) => path.replace(/\d+/g, '#'))
  return name === otherName && ![...one.commits].some((commit) => other.commits.has(commit))
}
