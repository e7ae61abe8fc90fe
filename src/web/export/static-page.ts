import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import { instant } from '../../drawing/words.ts'

/** What needs a server: answers, searches, feeds and pictures; and periods, filters and orders, whose pages have no end. */
export function isExported(path: string): boolean {
  const [place = '', query] = path.split('?')
  if (!place.startsWith('/') || place.startsWith('//')) return false
  if (/^\/(api|search|feeds|changes|og|mcp|[\w-]+\.\w+)(\/|$)/.test(place)) return false
  return query === undefined || /^page=\d+$/.test(query)
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
export function linksOf(text: string): string[] {
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
export function staticText(text: string, { file, fileOf: find, madeAt, policy }: StaticPage): string {
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
export function redirectText(file: string, to: string): string {
  const place = relative(file, to)
  return String(html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="robots" content="noindex"><meta http-equiv="refresh" content="0; url=${place}">
<title>wynnsync</title><a href="${place}">This page</a></html>
`)
}

/** What stands for a page that could not be made: only its title. */
export function unavailableText(file: string, text: string): string {
  const [, title = 'This page could not be made'] = /<h1>([\s\S]*?)<\/h1>/.exec(text) ?? []
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="robots" content="noindex"><title>${title}</title>
<h1>${title}</h1><a href="${relative(file, 'index.html')}">wynnsync</a></html>
`
}
