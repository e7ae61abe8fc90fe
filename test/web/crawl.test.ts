import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { ofPart } from '../support/parts.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { webWorld } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import type { World } from '../support/world.ts'

/** What a page may have, uncompressed. */
const MOST = 300_000

/** How many links away from the first page are followed, and how many pages of each kind. */
const [DEPTH, OF_EACH] = [6, 8]

/** What pages are of one kind: their paths differ in names, and they have the same arguments. */
function kindOf({ pathname, searchParams }: URL): string {
  return `${pathname.replace(/^(\/[^/]+)\/.+/, '$1/*')}?${[...searchParams.keys()].sort().join('&')}`
}

const worlds: Readonly<Record<string, (world: World) => Promise<void>>> = {
  'all that is recorded': liveWholeWorld,
  'the map alone': async (world) => {
    await world.sync(territories, { Oak: place('a', '08:00'), Elm: place('b', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place('a', '08:00'), Elm: place('a', '10:30') }, '11:00')
  },
  nothing: async () => {},
}

describe.each(
  kindsOfPart.flatMap((kind) =>
    ofPart({ quick: ['nothing', 'the map alone'], rest: ['all that is recorded'] }).map(
      (name) => [name, kind] as const,
    ),
  ),
)('pages about %s, in the %s database,', (name, kind) => {
  const { served } = webWorld(kind, worlds[name] ?? liveWholeWorld)

  test('lead nowhere where there is no page, and are small', { timeout: 600_000 }, async () => {
    const { url, ask } = await served()
    const found = new Map([['/', 0]])
    const kinds = new Map<string, number>()
    const wrong: string[] = []
    let pages = 0
    for (const [path, depth] of found) {
      const { status, text, headers } = await ask(path)
      const isPage = String(headers['content-type']).includes('html')
      if (status >= 400) wrong.push(`${path}: ${status}`)
      if (isPage && text.length > MOST) wrong.push(`${path}: ${text.length} bytes`)
      if (!isPage || depth >= DEPTH) continue
      pages++
      for (const [, href = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
        const to = new URL(href.replaceAll('&amp;', '&').replaceAll('&#39;', "'"), url + path)
        const of = kindOf(to)
        const seen = kinds.get(of) ?? 0
        if (to.origin !== new URL(url).origin || found.has(to.pathname + to.search) || seen >= OF_EACH) continue
        kinds.set(of, seen + 1)
        found.set(to.pathname + to.search, depth + 1)
      }
    }
    expect(wrong).toEqual([])
    expect(pages).toBeGreaterThan(10)
  })
})
