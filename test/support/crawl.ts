/** One answer of a crawl. */
export interface Crawled {
  /** With its query. */
  readonly path: string
  readonly status: number
  readonly text: string
  readonly isPage: boolean
}

/** What pages are of one kind: their paths differ in names, and they have the same arguments. */
function kindOf({ pathname, searchParams }: URL): string {
  return `${pathname.replace(/^(\/[^/]+)\/.+/, '$1/*')}?${[...searchParams.keys()].sort().join('&')}`
}

/** Follows the links of a web server from `/`, so many links away from it, and so many paths of each kind. */
export async function* crawl(
  url: string,
  ask: (path: string) => Promise<{ status: number; text: string; headers: { readonly 'content-type'?: unknown } }>,
  { depth: most, ofEach }: { readonly depth: number; readonly ofEach: number },
): AsyncGenerator<Crawled> {
  const found = new Map([['/', 0]])
  const kinds = new Map<string, number>()
  for (const [path, depth] of found) {
    const { status, text, headers } = await ask(path)
    const isPage = String(headers['content-type']).includes('html')
    yield { path, status, text, isPage }
    if (!isPage || depth >= most) continue
    for (const [, href = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
      const to = new URL(href.replaceAll('&amp;', '&').replaceAll('&#39;', "'"), url + path)
      const of = kindOf(to)
      const seen = kinds.get(of) ?? 0
      if (to.origin !== new URL(url).origin || found.has(to.pathname + to.search) || seen >= ofEach) continue
      kinds.set(of, seen + 1)
      found.set(to.pathname + to.search, depth + 1)
    }
  }
}
