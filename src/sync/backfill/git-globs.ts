import { posix } from 'node:path'
import { UsageError } from '../../base/errors.ts'

/**
 * One glob for some JSON files of a folder.
 * @param any what the names of all files there match without their ends, where all are meant
 */
export function globOf(files: readonly { readonly path: string }[], any?: string): string {
  const [first = ''] = files.map(({ path }) => path)
  const folder = posix.dirname(first)
  if (any !== undefined) return posix.join(literal(folder), `${any}.json`)
  if (files.length < 2) return literal(first)
  const names = files.map(({ path }) => literal(stemOf(path))).sort()
  return posix.join(literal(folder), `{${names.join(',')}}.json`)
}

/** A path as a glob that matches it alone. */
function literal(path: string): string {
  // What is no UTF-8 in a name was read as U+FFFD.
  return path.replace(/[*?[\]\\{},]/g, String.raw`\$&`).replaceAll(/\ufffd+/g, '*')
}

/** The name of a JSON file without folder and end. */
export function stemOf(path: string): string {
  return posix.basename(path).replace(/\.json(\.gz)?$/, '')
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
