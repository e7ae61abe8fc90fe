import { posix } from 'node:path'
import { UsageError } from '../../base/errors.ts'

/** How files of JSON are called at their end, and of JSON in each line; perhaps packed. */
const jsonEnd = /\.(?:json|jsonl|ndjson)(?:\.gz)?$/

/**
 * One glob for some JSON files of a folder.
 * @param files the glob of each
 * @param any what the names of all files there match without their ends, where all are meant
 */
export function globOf(files: readonly { readonly glob: string }[], any?: string): string {
  const [first = ''] = files.map(({ glob }) => glob)
  if (any === undefined && files.length < 2) return first
  const ends = [...new Set(files.map(({ glob }) => jsonEnd.exec(glob)?.[0] ?? ''))].sort()
  const names =
    any ??
    `{${files
      .map(({ glob }) => stemOf(glob))
      .sort()
      .join(',')}}`
  const isOneKind = ends.every((end) => end === '.json' || end === '.json.gz')
  const end = ends.length < 2 ? ends.join() : isOneKind ? '.json*' : `{${ends.join()}}`
  return posix.join(posix.dirname(first), names + end)
}

/** What a path says of the time of its file. */
interface NamedPath {
  /** It alone. */
  readonly own: string
  /** It, or where it has a date, with any other: `days/2026-05-01.json` is `days/????-??-??.json`. */
  readonly glob: string
  /** Without its dates. */
  readonly rest: string
  /** The first and the last second that its last date names, ms since the epoch. */
  readonly time?: { readonly from: number; readonly until: number }
}

/**
 * How files and folders are called after a time: a month, a day, a time of it, and seconds or ms since the epoch. In UTC, but for a time with another
 * offset: `2026-05-01T12-00-00+0200`. What follows hours and minutes without anything between them is no offset: `0630-0700`.
 */
const dates = [
  /(?<!\d)(?<year>20\d\d)[-_./](?<month>0[1-9]|1[0-2])(?![-_./]?\d)/g,
  /(?<!\d)(?<year>20\d\d)([-_./]?)(?<month>0[1-9]|1[0-2])\2(?<day>0[1-9]|[12]\d|3[01])(?:[-_ T/]?(?<hour>[01]\d|2[0-3])[-_.:h]?(?<minute>[0-5]\d)(?:(?!-\d\d:\d\d(?!\d))[-_.:m]?(?<second>[0-5]\d)(?:\.\d+)?)?(?:Z|(?<offset>\+(?:0\d|1[0-4])(?:[-_.:]?[0-5]\d)?|(?<=[-_.:h]\d\d|\d{6}|\.\d+)-(?:0\d|1[0-4]):?[0-5]\d))?)?(?!\d)/g,
  // The day or the month first: which one, a name does not say. What follows is of the day: `31-05-2026-12` is not in December.
  /(?<!\d)(?<unordered>(?:0[1-9]|[12]\d|3[01])([-_.])(?:0[1-9]|[12]\d|3[01])\2)20\d\d(?:[-_ T/]?(?:[01]\d|2[0-3])[-_.:h]?[0-5]\d(?:[-_.:m]?[0-5]\d)?)?(?!\d)/g,
  /(?<!\d)(?<unordered>(?:0[1-9]|[12]\d|3[01])\/(?:0[1-9]|[12]\d|3[01])\/)20\d\d(?![-_.]?\d)/g,
  /(?<!\d)(?<epoch>1[3-9]\d{8}|20\d{8})(?<ms>\d{3})?(?!\d)/g,
]

/** Reads the dates that a path has, in the name of the file or of folders. The last one is that of the file; a day without the order of its numbers is of no time. */
export function namedPath(path: string): NamedPath {
  // The digits of a uuid are no date.
  const named = path.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, (uuid) => 'x'.repeat(uuid.length))
  const found = dates.flatMap((date) => [...named.matchAll(date)]).sort((a, b) => a.index - b.index)
  let glob = ''
  let rest = ''
  let end = 0
  let last: Readonly<Record<string, string>> | undefined
  for (const { 0: text, index, groups } of found) {
    if (index < end) continue
    const isOrdered = groups?.unordered === undefined
    glob += literal(path.slice(end, index)) + (isOrdered ? text.replace(/\d/g, '?') : literal(text))
    rest += path.slice(end, index)
    end = index + text.length
    if (isOrdered) last = groups
  }
  glob += literal(path.slice(end))
  return { own: literal(path), glob, rest: rest + path.slice(end), ...(last ? { time: timeOf(last) } : {}) }
}

function timeOf({
  year,
  month,
  day,
  hour,
  minute,
  second,
  offset,
  epoch,
  ms = '0',
}: Readonly<Record<string, string | undefined>>) {
  const instant = 1000 * Number(epoch) + Number(ms)
  if (epoch !== undefined) return { from: instant, until: instant }
  const [from = 0, seconds = 0] =
    day === undefined
      ? [
          Date.UTC(Number(year), Number(month) - 1),
          86_400 * new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate(),
        ]
      : [
          Date.UTC(
            Number(year),
            Number(month) - 1,
            Number(day),
            Number(hour ?? 0),
            Number(minute ?? 0),
            Number(second ?? 0),
          ),
          hour === undefined ? 86_400 : second === undefined ? 60 : 1,
        ]
  const began = from - offsetMs(offset)
  return { from: began, until: began + 1000 * (seconds - 1) }
}

/** What a time is ahead of UTC. */
function offsetMs(offset = '+00'): number {
  const [hours = 0, minutes = 0] = (offset.match(/\d\d/g) ?? []).map(Number)
  return (offset.startsWith('-') ? -60_000 : 60_000) * (60 * hours + minutes)
}

/** A path as a glob that matches it alone. */
function literal(path: string): string {
  // What is no UTF-8 in a name was read as U+FFFD.
  return path.replace(/[*?[\]\\{},]/g, String.raw`\$&`).replaceAll(/\ufffd+/g, '*')
}

/** The name of a JSON file without folder and end. */
export function stemOf(path: string): string {
  return posix.basename(path).replace(jsonEnd, '')
}

/** More globs than this are not meant. */
const mostAlternatives = 1000

/**
 * A glob with `{a,b}` as several without, as a shell has them. A backslash makes a brace or comma a character of a name.
 * @throws UsageError for more than a shell would be given
 */
export function alternativesOf(glob: string): string[] {
  let done = ['']
  let rest = glob
  for (let group = firstGroup(rest); group; group = firstGroup(rest)) {
    const { before, choices, after } = group
    const inner = choices.flatMap(alternativesOf)
    done = done.flatMap((start) => inner.map((choice) => start + before + choice))
    rest = after
    if (done.length > mostAlternatives) throw new UsageError(`--map names more than ${mostAlternatives} globs: ${glob}`)
  }
  return done.map((start) => start + rest)
}

/** The first braces with a comma in them; undefined without. */
function firstGroup(glob: string): { before: string; choices: string[]; after: string } | undefined {
  for (let start = 0; start < glob.length; start++) {
    if (glob[start] === '\\') start++
    else if (glob[start] === '{') {
      const commas: number[] = []
      let depth = 0
      for (let at = start; at < glob.length; at++) {
        if (glob[at] === '\\') at++
        else if (glob[at] === '{') depth++
        else if (glob[at] === ',' && depth === 1) commas.push(at)
        else if (glob[at] === '}' && --depth === 0) {
          if (commas.length === 0) break
          const bounds = [start, ...commas, at]
          const choices = bounds.slice(1).map((end, nth) => glob.slice((bounds[nth] ?? 0) + 1, end))
          return { before: glob.slice(0, start), choices, after: glob.slice(at + 1) }
        }
      }
    }
  }
  return undefined
}
