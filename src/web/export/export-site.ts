import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { html, raw } from 'hono/html'
import { codeOf, UsageError } from '../../base/errors.ts'
import { instant } from '../../drawing/words.ts'
import { type Ahead, foundIn } from '../html/page.ts'

/** What needs a server: answers, searches, feeds and pictures; and periods, filters and orders, whose pages have no end. */
export function isExported(path: string): boolean {
  const [place = '', query] = path.split('?')
  if (!place.startsWith('/') || place.startsWith('//')) return false
  if (/^\/(api|search|feeds|changes|og|mcp|[\w-]+\.\w+)(\/|$)/.test(place)) return false
  // What happened fills more pages each day: of these the first.
  return query === undefined || (/^page=\d+$/.test(query) && !/^\/(captures|runs)$/.test(place))
}

/** Names of files that some systems keep for themselves. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d|index.*)$/

/**
 * The file of a page, the same in every export: `/guilds` is `guilds/index.html`, `/guilds/abc` is `guilds/abc.html`. What some file
 * systems could mistake for another name has a part of its hash behind it.
 */
export function fileOf(path: string): string {
  const [place = '', query] = path.split('?')
  const [folder = '', ...names] = place.slice(1).split('/')
  const page = query === undefined ? '' : `-page-${query.slice('page='.length)}`
  if (folder === '') return 'index.html'
  if (names.length === 0) return `${folder}/index${page}.html`
  const name = decodeURIComponent(names.join('/'))
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60)
  const isSafe = plain === name && !reserved.test(name)
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${folder}/${isSafe ? plain : `${plain}-${hash}`}${page}.html`
}

const anchors = /(<a\b[^>]*? href=")(\/[^"]*)("[^>]*>)([\s\S]*?)<\/a>/g

/** Where the links of a page lead on the same site. */
function linksOf(text: string): string[] {
  return [...new Set([...text.matchAll(anchors)].map(([, , href = '']) => plainOf(href)))]
}

/** An attribute as its author wrote it. */
function plainOf(attribute: string): string {
  return attribute.replace(
    /&(amp|quot|lt|gt|#39);/g,
    (_, name: string) => ({ amp: '&', quot: '"', lt: '<', gt: '>', '#39': "'" })[name] ?? '',
  )
}

interface StaticPage {
  /** The file that is written. */
  readonly file: string
  /** The file of an address; undefined for what is not exported. */
  fileOf(href: string): string | undefined
  readonly madeAt: Date
  /** The content security policy that the server sent. */
  readonly policy: string
}

/** Parts of a page that only a server can answer. In them, names are escaped. */
const served = [
  /<nav class="period"[\s\S]*?<\/nav>/g,
  /<details class="at">[\s\S]*?<\/details>/g,
  /<form\b[\s\S]*?<\/form>/g,
  /<span class="then">[\s\S]*?<\/span>/g,
  /<section id="map-live"[\s\S]*?<\/section>/g,
  /<span id="home-live"[\s\S]*?<\/span>/g,
  /<a href="\/api"[^>]*>API<\/a>/g,
  /<link rel="(?:canonical|alternate)"[^>]*>/g,
  /<meta (?:property="og:|name="twitter:)[^>]*>\s*/g,
  / data-age="\d+"/g,
]

/** A page of the server as a file: its links lead to other files by relative paths, and what needs a server is left out. */
function staticText(text: string, { file, fileOf: find, madeAt, policy }: StaticPage): string {
  const parts = policy.split('; ').filter((part) => !/^(frame-ancestors|connect-src|form-action)/.test(part))
  const meta = html`<meta http-equiv="Content-Security-Policy" content="${raw(parts.join('; '))}; form-action 'none'">`
  const note = `A copy of ${instant(madeAt)} UTC. Other periods, searches and filters need the server: wynnsync serve.`
  return served
    .reduce((left, part) => left.replace(part, ''), text)
    .replace(anchors, (_, before: string, href: string, after: string, inside: string) => {
      const to = find(plainOf(href))
      const [, fragment] = href.split(/#(?!39;)/)
      if (to === undefined) return `<span>${inside}</span>`
      return `${before}${relative(file, to)}${fragment === undefined ? '' : `#${fragment}`}${after}${inside}</a>`
    })
    .replace('<meta charset="utf-8">', (charset) => `${charset}${meta}`)
    .replace('<footer>', `<footer>${note} `)
}

/** From one file to another, both at most one folder deep. */
function relative(from: string, to: string): string {
  return `${from.includes('/') ? '../' : ''}${to}`
}

/** Leads on to another file. */
function redirectText(file: string, to: string): string {
  const place = relative(file, to)
  return String(html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="robots" content="noindex"><meta http-equiv="refresh" content="0; url=${place}">
<title>wynnsync</title><a href="${place}">This page</a></html>
`)
}

/** What stands for a page that could not be made: only its title. */
function unavailableText(file: string, text: string): string {
  const [, title = 'This page could not be made'] = /<h1>([\s\S]*?)<\/h1>/.exec(text) ?? []
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="robots" content="noindex"><title>${title}</title>
<h1>${title}</h1><a href="${relative(file, 'index.html')}">wynnsync</a></html>
`
}

/** The list of the files of an export, by which the next one knows its own; and where it is made. */
const MANIFEST = 'wynnsync-export.json'
const STAGE = '.wynnsync-export'

/** The status of a page that leads to each of several that have or had a name. */
const SEVERAL_STATUS = 409

/** Pages of an export at most. */
const MOST_PAGES = 50_000

export interface ExportOptions {
  readonly dir: string
  /** Answers as the server would. @param waiting the paths that it is asked for next */
  readonly request: (path: string, waiting: readonly string[]) => Promise<Response>
  readonly version: string
  readonly madeAt: Date
  readonly onPage?: (done: number, known: number) => void
  /** Called with a page that could not be made, and the status. */
  readonly onFailed?: (path: string, status: number) => void
  readonly most?: number
}

export interface ExportResult {
  readonly dir: string
  readonly pages: number
  readonly bytes: number
  /** Pages that could not be made; a page that says so stands in their place. */
  readonly failed: number
  /** Pages beyond the limit, which nothing links to. */
  readonly leftOut: number
  /** Files of the export before that are no longer there. */
  readonly removed: number
}

/**
 * Writes every page that can be reached from the first one as a file. The files are made beside those of the export before, which they
 * replace one by one at the end: an export that is ended early leaves the one before as it was.
 * @throws UsageError when the folder has files of others
 */
export async function exportSite({ dir: place, most = MOST_PAGES, ...options }: ExportOptions): Promise<ExportResult> {
  const dir = resolve(place)
  const before = await openFolder(dir)
  const stage = join(dir, STAGE)
  await rm(stage, { recursive: true, force: true })
  const made = await writePages({ ...options, most }, stage)
  const { files, ...result } = made
  const whole = [...new Set([...before, ...files])]
  await writeManifest(dir, whole, options)
  for (const file of files) {
    await mkdir(dirname(join(dir, file)), { recursive: true })
    await rename(join(stage, file), join(dir, file))
  }
  const removed = before.filter((file) => !files.includes(file))
  for (const file of removed) await rm(join(dir, file), { force: true })
  for (const folder of new Set(removed.map(dirname))) await rmdir(join(dir, folder)).catch(() => undefined)
  await writeManifest(dir, files, options)
  await rm(stage, { recursive: true, force: true })
  return { dir, ...result, removed: removed.length }
}

/** The files of the export before. @throws UsageError when the folder has others, and no list of its own */
async function openFolder(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch((error: unknown): string[] => {
    if (codeOf(error) === 'ENOENT') return []
    if (codeOf(error) === 'ENOTDIR') throw new UsageError(`--export ${dir} is a file, not a folder`)
    throw error
  })
  if (names.includes(MANIFEST)) return await readManifest(dir)
  const others = names.filter((name) => name !== STAGE)
  if (others.length > 0)
    throw new UsageError(
      `--export ${dir} has files that are not of an export, such as ${others[0]}: name an empty folder`,
    )
  await mkdir(dir, { recursive: true })
  return []
}

async function readManifest(dir: string): Promise<string[]> {
  const text = await readFile(join(dir, MANIFEST), 'utf8')
  try {
    const { files } = JSON.parse(text) as { files: unknown[] }
    // Only what an export can have written is ever removed.
    return files.filter(
      (file): file is string => typeof file === 'string' && /^([\w-]+\/)?[\w-]+\.(html|txt|ico)$/.test(file),
    )
  } catch (error) {
    throw new UsageError(`${join(dir, MANIFEST)} is not the list of an export; remove the folder`, { cause: error })
  }
}

async function writeManifest(
  dir: string,
  files: readonly string[],
  { version, madeAt }: Pick<ExportOptions, 'version' | 'madeAt'>,
) {
  const path = join(dir, MANIFEST)
  const text = JSON.stringify({ program: 'wynnsync', version, madeAt, files })
  await writeFile(`${path}.new`, `${text}\n`)
  await rename(`${path}.new`, path)
}

type Made = Pick<ExportResult, 'pages' | 'bytes' | 'failed' | 'leftOut'> & { readonly files: string[] }

async function writePages(
  { request, madeAt, onPage, onFailed, most }: Omit<ExportOptions, 'dir'> & { readonly most: number },
  stage: string,
): Promise<Made> {
  const known = new Map<string, string>()
  const files = new Set<string>()
  const leftOut = new Set<string>()
  const queue: string[] = []
  /** The file of a page, which is exported from then on; undefined for what is not. */
  const admit = (path: string): string | undefined => {
    const [address = ''] = path.split('#')
    if (!isExported(address)) return undefined
    const file = known.get(address)
    if (file !== undefined) return file
    if (known.size >= most) {
      leftOut.add(address)
      return undefined
    }
    const name = fileOf(address)
    known.set(address, name)
    queue.push(address)
    return name
  }
  const folders = new Set<string>()
  const write = async (file: string, body: string | Uint8Array) => {
    const folder = dirname(join(stage, file))
    if (!folders.has(folder)) await mkdir(folder, { recursive: true })
    folders.add(folder)
    await writeFile(join(stage, file), body)
    files.add(file)
    bytes += Buffer.byteLength(body)
  }
  let bytes = 0
  let failed = 0
  let done = 0
  admit('/')
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const file = fileOf(path)
    const response = await request(path, queue)
    const place = response.headers.get('location')
    const text = await response.text()
    if (place !== null) await write(file, redirectText(file, admit(place) ?? fileOf('/')))
    else if (response.status !== 200 && response.status !== SEVERAL_STATUS) {
      failed++
      onFailed?.(path, response.status)
      await write(file, unavailableText(file, text))
    } else {
      const policy = response.headers.get('content-security-policy') ?? ''
      const linked = new Map(linksOf(text).flatMap((href) => [[href, admit(href)] as const]))
      await write(file, staticText(text, { file, fileOf: (href) => linked.get(href), madeAt, policy }))
    }
    done++
    onPage?.(done, known.size)
  }
  for (const name of ['robots.txt', 'favicon.ico'])
    await write(name, new Uint8Array(await (await request(`/${name}`, [])).arrayBuffer()))
  return { pages: done, bytes, failed, leftOut: leftOut.size, files: [...files] }
}

/** Of so many things what their pages show is read at once. */
const READ_AHEAD_THINGS = 500

/** Reads for a page what those that are made next show, too, as long as the last that was read so has it. */
export function readingAhead(): { readonly ahead: Ahead; expect(paths: readonly string[]): void } {
  let next: readonly string[] = []
  const read = new Map<string, ReadonlyMap<string, unknown>>()
  return {
    ahead: async <T>(
      folder: string,
      name: string,
      readSome: (names: readonly string[]) => Promise<ReadonlyMap<string, T>>,
    ) => {
      const before = read.get(folder) as ReadonlyMap<string, T> | undefined
      if (before?.has(name)) return foundIn(before, name)
      const names = new Set([name])
      for (const path of next) {
        if (names.size === READ_AHEAD_THINGS) break
        if (path.startsWith(`/${folder}/`)) names.add(decodeURIComponent(path.slice(folder.length + 2)))
      }
      const some = await readSome([...names])
      read.set(folder, some)
      return foundIn(some, name)
    },
    expect: (paths) => {
      next = paths
    },
  }
}
