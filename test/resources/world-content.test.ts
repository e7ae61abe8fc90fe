import { describe, expect, test } from 'vitest'
import { articleVocabulary } from '../../src/api/schemas/articles.ts'
import { abilityTrees } from '../../src/resources/ability-trees/index.ts'
import { articles } from '../../src/resources/articles/index.ts'
import { aspects } from '../../src/resources/aspects/index.ts'
import { camps } from '../../src/resources/camps/index.ts'
import { classes } from '../../src/resources/classes/index.ts'
import { gatheringNodes } from '../../src/resources/gathering-nodes/index.ts'
import { latestNews } from '../../src/resources/latest-news/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { mapMarkers } from '../../src/resources/map-markers/index.ts'
import { quests } from '../../src/resources/quests/index.ts'
import { raids } from '../../src/resources/raids/index.ts'
import { videos } from '../../src/resources/videos/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { documentedExample, hasRecordings } from '../support/recorded.ts'
import { worldOf } from '../support/world.ts'

const all = [
  lootPools,
  raids,
  camps,
  worldEvents,
  quests,
  mapMarkers,
  gatheringNodes,
  classes,
  abilityTrees,
  aspects,
  articles,
  videos,
  latestNews,
]

describe.each(['live', 'documented'] as const)('the content of the world in the %s dialect', (dialect) => {
  const world = worldOf('server', { sandbox: { dialect } })

  test.each(all.map((resource) => [resource.name, resource] as const))(
    '%s loads whole, and the same again changes nothing',
    async (_name, resource) => {
      expect(await world.syncNow(resource)).toMatchObject({ status: 'ok', quarantined: 0, rejected: 0 })
      const before = await world.rowCounts()
      await world.clock.advance(resource.cacheSeconds * 1000 + 1000)
      expect(await world.syncNow(resource)).toMatchObject({ inserted: 0, changed: 0, closed: 0, quarantined: 0 })
      // More events are announced by now, and more comments written.
      const grows = ['game.world_event_occurrence', 'game.news_comments']
      const games = Object.fromEntries(
        Object.entries(await world.rowCounts()).filter(
          ([table]) => table.startsWith('game.') && !grows.includes(table),
        ),
      )
      expect(before).toMatchObject(games)
      expect(await world.rows('select * from sync.drift')).toEqual([])
    },
  )
})

describe.each(kindsAtNight)('the content of the world on the %s database', (kind) => {
  const world = worldOf(kind)

  test('counts quests, and says by how much the number changed', async () => {
    await world.sync(quests, { quests: 140 }, '10:00')
    await world.sync(quests, { quests: 143 }, '11:00')
    expect(await world.sync(quests, { quests: null }, '12:00')).toMatchObject({ quarantined: 1, closed: 0 })
    expect(await world.rows('select path, old_value, new_value from game.field_change')).toEqual([
      ['/quests', 140, 143],
    ])
  })

  test('tells markers of one name apart by their places, which come as texts', async () => {
    const marker = { name: 'Bank', icon: 'bank.png', x: '10', y: '64', z: '-20' }
    await world.sync(mapMarkers, [marker, { ...marker, x: '11' }, { ...marker, x: 12 }], '10:00')
    await world.sync(mapMarkers, [marker, { ...marker, x: '11', icon: 'vault.png' }, { ...marker, x: 12 }], '11:00')
    expect(await world.rows('select x, icon, valid_from from game.map_marker order by 1, 3')).toEqual([
      [10, 'bank.png', '10:00'],
      [11, 'bank.png', '10:00'],
      [11, 'vault.png', '11:00'],
      [12, 'bank.png', '10:00'],
    ])
  })

  test('quarantines a marker or node beyond the border of the world, and reads the next response as ever', async () => {
    const marker = { name: 'Bank', icon: 'bank.png', x: '10', y: '64', z: '-20' }
    const node = { x: 10, y: 64, z: -20, resource: 'OAK', type: 'NODE', level: 1, angle: 0 }
    for (const [resource, record] of [
      [mapMarkers, marker],
      [gatheringNodes, node],
    ] as const) {
      const others = [1, 2, 3].map((y) => ({ ...record, y }))
      await world.sync(resource, [record, ...others], '10:00')
      for (const [nth, x] of [2 ** 53, -1e39, 3e7 + 1, '', ' ', null].entries())
        expect(await world.sync(resource, [{ ...record, x }, ...others], `10:1${nth}`)).toMatchObject({
          quarantined: 1,
        })
      expect(await world.sync(resource, [record, ...others], '11:00')).toMatchObject({
        status: 'unchanged',
        quarantined: 0,
      })
      // What differs in noise alone is the same place.
      const [zero, noise] = [0, -1e-13].map((x) => [record, ...others, { ...record, x }])
      expect(await world.sync(resource, zero, '12:00')).toMatchObject({ inserted: 1, quarantined: 0 })
      expect(await world.sync(resource, noise, '12:10')).toMatchObject({ inserted: 0, closed: 0, quarantined: 0 })
    }
    const places = (table: string) => world.rows(`select distinct x from game.${table} order by 1`)
    expect([await places('map_marker'), await places('gathering_node')]).toEqual([
      [[0], [10]],
      [[0], [10]],
    ])
  })

  test('has a version of an announcement for each edit, and its comments as samples', async () => {
    const item = { title: 'News', date: '2026-05-30', forumThread: 'https://example.com/1', author: 'a', comments: '3' }
    await world.sync(latestNews, [{ ...item, content: '<p>One &amp; two</p>' }], '10:00')
    await world.sync(latestNews, [{ ...item, comments: '5', content: '<p>One &amp; two</p>' }], '11:00')
    await world.sync(latestNews, [{ ...item, comments: 5, content: '<p>Three</p>' }], '12:00')
    expect(await world.rows('select valid_from, content from game.news order by 1')).toEqual([
      ['10:00', 'One & two'],
      ['12:00', 'Three'],
    ])
    expect(await world.rows('select observed_at, comments from game.news_comments order by 1')).toEqual([
      ['10:00', 3],
      ['11:00', 5],
    ])
  })

  test('leaves entities as they are that stand for what no database keeps', async () => {
    const item = {
      title: 'News',
      date: '2026-02-30T12:00:00Z',
      forumThread: 'https://example.com/2',
      author: 'a',
      comments: '1',
    }
    expect(await world.sync(latestNews, [{ ...item, content: 'a&#0;b&#xd800;c&#x41;' }], '10:00')).toMatchObject({
      status: 'ok',
      quarantined: 0,
    })
    expect(await world.rows('select content, published_at from game.news')).toEqual([['a&#0;b&#xd800;cA', null]])
  })

  test.skipIf(!hasRecordings)(
    'keeps the documented announcement, whose number of comments is the word string',
    async () => {
      const shown = documentedExample('latest-news.json')
      expect(await world.sync(latestNews, shown, '10:00')).toMatchObject({ inserted: 1, quarantined: 1 })
    },
  )

  test.skipIf(!hasRecordings)('loads what the documentation of the API shows', async () => {
    for (const [resource, example] of [
      [lootPools, 'map-loot-pools'],
      [raids, 'map-raids'],
      [camps, 'map-camps'],
      [worldEvents, 'map-world-events'],
      [quests, 'map-quests'],
      [mapMarkers, 'map-markers'],
      [gatheringNodes, 'map-gathering-nodes'],
      [videos, 'videos'],
    ] as const)
      expect([resource.name, await world.sync(resource, documentedExample(`${example}.json`), '10:00')]).toMatchObject([
        resource.name,
        { status: 'ok', quarantined: 0 },
      ])
    const [list, one, articleList] = ['classes', 'class', 'article-list'].map((name) =>
      documentedExample(`${name}.json`),
    ) as [Record<string, object>, { id: string }, object]
    world.sandbox.setAnswer('/classes', () => ({ body: { [one.id]: Object.values(list)[0] } }))
    world.sandbox.setAnswer(`/classes/${one.id}`, () => ({ body: one }))
    for (const type of articleVocabulary.type)
      world.sandbox.setAnswer(`/publisher/articles/list/${type}`, () => ({ body: articleList }))
    for (const resource of [classes, articles])
      expect([resource.name, await world.syncNow(resource)]).toMatchObject([
        resource.name,
        { status: 'ok', quarantined: 0 },
      ])
    expect(await world.rows('select count(*) from game.article union all select count(*) from game.class')).toEqual([
      [4],
      [1],
    ])
  })
})
