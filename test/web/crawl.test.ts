import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { crawl } from '../support/crawl.ts'
import { place } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import type { World } from '../support/world.ts'

/** What a page may have, uncompressed. */
const MOST = 300_000

/** How many links away from the first page are followed, and how many pages of each kind. */
const [DEPTH, OF_EACH] = [6, 8]

const worlds: Readonly<Record<string, (world: World) => Promise<void>>> = {
  'all that is recorded': liveWholeWorld,
  'the map alone': async (world) => {
    await world.sync(territories, { Oak: place('a', '08:00'), Elm: place('b', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place('a', '08:00'), Elm: place('a', '10:30') }, '11:00')
  },
  nothing: async () => {},
}

describe.each([
  ['nothing', 'server'],
  ['the map alone', 'server'],
  ['all that is recorded', 'embedded'],
] as const)('pages about %s, in the %s database,', (name, kind) => {
  const { served } = webWorld(kind, worlds[name] ?? liveWholeWorld)

  test('lead nowhere where there is no page, and are small', { timeout: 600_000 }, async () => {
    const { url, ask } = await served()
    const wrong: string[] = []
    let pages = 0
    for await (const { path, status, text, isPage } of crawl(url, ask, { depth: DEPTH, ofEach: OF_EACH })) {
      if (status >= 400) wrong.push(`${path}: ${status}`)
      if (isPage && text.length > MOST) wrong.push(`${path}: ${text.length} bytes`)
      if (isPage) pages++
    }
    expect(wrong).toEqual([])
    expect(pages).toBeGreaterThan(10)
  })
})
