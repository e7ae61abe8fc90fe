import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import { visibleLine } from '../../base/terminal-text.ts'

/** One entry of a feed. All texts are plain text. */
export interface Entry {
  /** The natural key; the id of the entry follows from it. */
  readonly key: readonly (string | number | null)[]
  readonly at: Date
  readonly title: string
  /** Path of the page about it. */
  readonly path: string
  readonly text?: string
  readonly author?: string | null
}

export interface Feed {
  readonly title: string
  readonly subtitle: string
  /** Path and query of the feed itself. */
  readonly self: string
  /** Path of the page about the same. */
  readonly path: string
  /** In any order. */
  readonly entries: readonly Entry[]
}

interface Serving {
  readonly version: string
  /** What paths begin with: scheme, host and port. */
  readonly origin: string
}

export const atomType = 'application/atom+xml; charset=utf-8'

/**
 * The feed as Atom (RFC 4287), the latest entry first. Ids follow from natural keys, so that they are the same on every
 * server and under every address; links are whole, because not every reader resolves them.
 */
export async function atomText(
  { title, subtitle, self, path, entries }: Feed,
  { version, origin }: Serving,
): Promise<string> {
  const ordered = entries.toSorted((one, other) => other.at.getTime() - one.at.getTime())
  // Required; of an empty feed one that does not change.
  const updated = ordered[0]?.at ?? new Date(0)
  const feed = html`${raw('<?xml version="1.0" encoding="utf-8"?>')}
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${idOf(['feed', self])}</id>
<title>${shown(title)}</title>
<subtitle>${shown(subtitle)}</subtitle>
<updated>${updated.toISOString()}</updated>
<author><name>wynnsync</name></author>
<generator version="${version}">wynnsync</generator>
<link rel="self" type="application/atom+xml" href="${whole(self, origin)}"/>
<link rel="alternate" type="text/html" href="${whole(path, origin)}"/>
${ordered.map((entry) => entryMarkup(entry, origin))}</feed>
`
  return String(await feed)
}

function entryMarkup({ key, at, title, path, text, author }: Entry, origin: string) {
  return html`<entry>
<id>${idOf(key)}</id>
<title>${shown(title)}</title>
<updated>${at.toISOString()}</updated>
<link rel="alternate" type="text/html" href="${whole(path, origin)}"/>
${author ? html`<author><name>${shown(author)}</name></author>` : ''}<content type="text">${shown(text ?? title)}</content>
</entry>
`
}

/** News lead to pages elsewhere. */
function whole(path: string, origin: string): string {
  return path.startsWith('/') ? `${origin}${path}` : path
}

/** A UUID (version 8) from a natural key. */
function idOf(key: Entry['key']): string {
  const hex = createHash('sha256').update(JSON.stringify(key)).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return `urn:uuid:${parts.join('-')}`
}

/** The text without the characters that XML has no place for, and without those that rearrange a line. */
function shown(text: string): string {
  return visibleLine(text).replace(/[\uFFFE\uFFFF]/g, '�')
}
