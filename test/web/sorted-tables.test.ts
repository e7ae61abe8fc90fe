import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { crawl } from '../support/crawl.ts'
import { webWorld } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'

/** More rows than this are sorted by a click; more than a page has are on several. */
const [FEW, MOST] = [10, 200]

/** Headings that sort nothing, and why. */
const prose = new Map([['Why', 'a sentence, and none where it could name a player']])

/** Tables that are read in the one order that they have: where they stand, and why. */
const unsorted: readonly (readonly [where: RegExp, selector: string, why: string])[] = [
  [/^\/api$/, 'table', 'documentation: arguments and columns stand in the order in which they are given'],
  [/^\/items\//, '.item-card table', 'the card of the game'],
]

describe('every table of more than ten rows', () => {
  const { served } = webWorld('server', liveWholeWorld)

  test('is sorted by each of its headings, with a link that says so in the address', { timeout: 600_000 }, async () => {
    const { url, ask } = await served()
    const wrong: string[] = []
    const tried = new Set<string>()
    for await (const { path, text, isPage } of crawl(url, ask, { depth: 4, ofEach: 4 })) {
      if (!isPage || path.includes('sort=')) continue
      const { document } = parseHTML(text)
      const excused = unsorted
        .filter(([where]) => where.test(path))
        .flatMap(([, selector]) => [...document.querySelectorAll(selector)])
      for (const table of document.querySelectorAll('main table')) {
        const rows = table.querySelectorAll('tbody tr').length
        const figure = table.closest('figure')?.getAttribute('id')
        if (rows <= FEW || excused.includes(table)) continue
        if (rows > MOST) wrong.push(`${path} #${figure}: ${rows} rows`)
        const headings = [...table.querySelectorAll('th')].filter(
          (one) => one.textContent?.trim() !== '' && !prose.has(one.textContent ?? ''),
        )
        const links = headings.flatMap((one) => one.querySelector('a[href*="sort="]')?.getAttribute('href') ?? [])
        if (links.length < headings.length)
          wrong.push(`${path} #${figure}: ${headings.length - links.length} headings sort nothing`)
        const kind = `${path.replace(/^(\/[^/?]+)\/[^?]+/, '$1/*').replace(/\?.*/, '')} ${figure}`
        if (tried.has(kind)) continue
        tried.add(kind)
        for (const href of links) {
          const sorted = await ask(href)
          const current = parseHTML(sorted.text).document.querySelector(`#${figure} th a[aria-current]`)
          if (sorted.status !== 200 || !/ [▲▼]$/.test(current?.textContent ?? '')) wrong.push(`${href}: does not sort`)
        }
      }
    }
    expect(wrong).toEqual([])
    expect(tried.size).toBeGreaterThan(5)
  })
})
