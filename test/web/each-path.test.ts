import { Hono } from 'hono'
import { parseHTML } from 'linkedom'
import { expect, onTestFinished, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { items } from '../../src/resources/items/index.ts'
import { nameFinders } from '../../src/resources/key-names.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { servedQuestions } from '../../src/web/api/routes.ts'
import { addFeeds } from '../../src/web/feeds/feeds.ts'
import { createBuild } from '../../src/web/http/page-cache.ts'
import { knownPatches } from '../../src/web/known-patches.ts'
import { addLiveMap, addPages, addPictures } from '../../src/web/pages/routes.ts'
import { openPictures } from '../../src/web/pictures/pictures.ts'
import { openReader } from '../../src/web/reading.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { testDatabase } from '../support/postgres.ts'
import { serve } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import { item, openWorld, type World } from '../support/world.ts'

const YEAR = 366 * 86_400_000

/** What a world has of it, or not. */
const named: Readonly<Record<string, readonly string[]>> = {
  runs: ['1', '0', 'x'],
  territories: ['Oak', 'Nowhere'],
  guilds: [guildId('a'), guildId('b'), 'None'],
  items: ['bow', 'none'],
  players: [playerId(1), playerId(3), 'None'],
  patches: ['1', '9', 'x'],
  leaderboards: ['guildLevel', 'none'],
}

/** Every path that the site answers, a name in place of each parameter. */
async function everyPath({ db, clock }: World): Promise<string[]> {
  const reader = await openReader(db, 5000)
  const site = {
    reader,
    clock,
    people: true,
    version: 'test',
    finders: nameFinders,
    count: () => undefined,
    patchesOf: knownPatches(),
    served: servedQuestions(reader, clock, true),
    build: createBuild({}),
    pictures: openPictures(),
  }
  const app = new Hono()
  for (const add of [addPages, addPictures, addLiveMap, addFeeds]) add(app, site)
  return [...new Set(app.routes.map(({ path }) => path))].flatMap((path) => {
    const folder = path.split('/').at(-2) ?? ''
    return path.includes(':name')
      ? (named[folder] ?? []).map((name) => path.replace(/:name(\{\.\+\\(\.\w+)\})?/, `${name}$2`))
      : [path]
  })
}

const worlds: readonly (readonly [string, (world: World) => Promise<unknown>])[] = [
  ['that is empty', async () => undefined],
  ['of everything', liveWholeWorld],
  ['of the map alone', (world) => world.sync(territories, { Oak: place('a', '08:00') }, '10:00')],
  ['of players online alone', (world) => syncOnline(world, onlineBody({ EU1: [1, 2] }, 1), '10:00')],
  ['of items alone', (world) => world.sync(items, [item('bow')], '10:00')],
  ['of a guild alone', (world) => syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '10:00')],
]

test.each(worlds)(
  'every path answers on a database %s: when it was just observed, and a year later',
  async (_, live) => {
    const world = await openWorld(await testDatabase('server'))
    onTestFinished(async () => {
      await world.api.close()
      await world.sandbox.close()
    })
    await live(world)
    const paths = await everyPath(world)
    expect(paths.length).toBeGreaterThan(60)
    const late = virtualClock(Math.max(Date.now(), world.clock.now()) + YEAR)
    for (const clock of [world.clock, late]) {
      const { ask } = await serve(world, {}, clock)
      for (const path of paths) {
        const { status, text } = await ask(path)
        expect.soft([200, 302, 404], `${path} answers ${status}`).toContain(status)
        // A moment says its year where that is not the present one.
        if (clock === late && status === 200 && text.includes('<h1>'))
          for (const said of parseHTML(text).document.querySelectorAll('h1, .lead, h3, .tile, .card, time'))
            expect.soft(said.textContent, path).not.toMatch(/\b\d{1,2} Jun, \d\d:\d\d/)
      }
    }
  },
)
