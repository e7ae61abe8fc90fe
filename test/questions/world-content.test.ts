import { describe, expect, test } from 'vitest'
import { abilityTrees } from '../../src/resources/ability-trees/index.ts'
import { articles } from '../../src/resources/articles/index.ts'
import { latestNews } from '../../src/resources/latest-news/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { quests } from '../../src/resources/quests/index.ts'
import { videos } from '../../src/resources/videos/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

const bow = { name: 'Old Bow', type: 'ITEM', amount: 1, always: false, tier: 'MYTHIC', shiny: true }
const coin = { name: 'Pale Coin', type: 'CURRENCY', amount: 2, always: true }
const pool = (rewards: unknown[]) => [{ name: 'The Vault', internalName: 'vault', type: 'RAID', rewards }]

describe.each(kindsOfPart)('questions about the content of the world on the %s database', (kind) => {
  const world = worldOf(kind)

  test('loot_pool_at and reward_appearance: weeks in which a reward is in a pool', async () => {
    await world.sync(lootPools, pool([coin, bow]), '01 10:00')
    await world.sync(lootPools, pool([{ ...coin, amount: 3 }, bow]), '03 10:00')
    await world.sync(lootPools, pool([coin]), '08 10:00')
    await world.sync(lootPools, pool([coin, bow]), '15 10:00')
    await world.sync(lootPools, pool([coin]), '22 10:00')
    const at = (day: string) =>
      world.rows(`select pool, kind, reward_type, reward, tier, amount, shiny, always, since
                    from analytics.loot_pool_at('2026-06-${day}T00:00:00Z')`)
    expect(await at('04')).toEqual([
      ['The Vault', 'RAID', 'CURRENCY', 'Pale Coin', null, 3, null, true, '10:00'],
      ['The Vault', 'RAID', 'ITEM', 'Old Bow', 'MYTHIC', 1, true, false, '10:00'],
    ])
    expect(await at('16')).toEqual([
      ['The Vault', 'RAID', 'CURRENCY', 'Pale Coin', null, 2, null, true, '10:00'],
      ['The Vault', 'RAID', 'ITEM', 'Old Bow', 'MYTHIC', 1, true, false, '15 10:00'],
    ])
    expect((await at('23')).length).toBe(1)
    expect(
      await world.rows(
        `select pool, reward_type, reward, first_seen, last_seen, times, is_current, extract(day from usual_interval)::int
           from analytics.reward_appearance where reward = 'Old Bow'`,
      ),
    ).toEqual([['The Vault', 'ITEM', 'Old Bow', '10:00', '15 10:00', 2, false, 14]])
  })

  test('reward_span: one response without rewards is no gap, weeks without any are', async () => {
    const spans = () => world.rows('select reward, since, until from analytics.reward_span order by 2')
    await world.sync(lootPools, pool([coin]), '01 10:00')
    await world.sync(lootPools, pool([]), '01 10:15')
    await world.sync(lootPools, pool([coin]), '01 10:30')
    expect(await spans()).toEqual([['Pale Coin', '10:00', 'infinity']])
    for (const day of ['02', '05', '12', '22']) await world.sync(lootPools, pool([]), `${day} 10:00`)
    expect(await spans()).toEqual([['Pale Coin', '10:00', '02 10:00']])
    await world.sync(lootPools, pool([coin]), '23 10:00')
    expect(await spans()).toEqual([
      ['Pale Coin', '10:00', '02 10:00'],
      ['Pale Coin', '23 10:00', 'infinity'],
    ])
    expect(await world.rows(`select reward from analytics.loot_pool_at('2026-06-15Z')`)).toEqual([])
  })

  test('reward_appearance: what is there was seen by the last response, and no later', async () => {
    await world.sync(lootPools, pool([coin]), '01 10:00')
    await world.sync(lootPools, pool([coin]), '02 10:00')
    expect(await world.rows('select last_seen, is_current from analytics.reward_appearance')).toEqual([
      ['02 10:00', true],
    ])
  })

  test('world_event_schedule: what was scheduled, in the hours in which responses came', async () => {
    await setExpectedInterval(world.db, {
      resource: 'world-events',
      everySeconds: 1200,
      setBy: 'sync',
      at: new Date(instantOf('00:00')),
    })
    const event = { internalName: '0a0b0c0d', name: 'Hold the Mill', level: 30, difficulty: 'HARD' }
    await world.sync(worldEvents, [{ ...event, schedule: '2026-06-01T10:35:00+00:00' }], '10:00')
    await world.sync(worldEvents, [{ ...event, level: 31, schedule: '2026-06-01T12:35:00+00:00' }], '10:40')
    expect(
      await world.rows(`select name, at, level, difficulty, coverage > 0 from analytics.world_event_schedule(
                          '2026-06-01T10:00:00Z', '2026-06-01T11:00:00Z')`),
    ).toEqual([['Hold the Mill', '10:35', 30, 'HARD', true]])
    expect(
      await world.rows(`select at, level, coverage from analytics.world_event_schedule('2026-06-01', '2026-06-02')`),
    ).toEqual([
      ['10:35', 30, expect.anything()],
      // Nobody asked in that hour.
      ['12:35', 31, 0],
    ])
  })

  test('quest_change and patch: what changed belongs to a patch, with the article nearest to it', async () => {
    await world.sync(quests, { quests: 140 }, '10:00')
    await world.sync(quests, { quests: 141 }, '02 10:00')
    expect(
      await world.rows('select patch, class, name, path, old_value, new_value, is_revert from analytics.quest_change'),
    ).toEqual([[1, null, 'quests', '/quests', 140, 141, false]])
    expect(
      await world.rows(
        'select patch, items_changed, abilities_changed, aspects_changed, quests_changed, nearest_article from analytics.patch',
      ),
    ).toEqual([[1, 0, 0, 0, 1, null]])
  })

  test('news: that an article is pinned is no edit, and its return none', async () => {
    const one = { pk: 7, title: 'One', type: 'blog', pinned: true, published_at: '2026-06-01T09:00:00+00:00' }
    const list = async (at: string, ...results: object[]) => {
      await world.clock.advanceTo(instantOf(at))
      const count = results.length
      const controller = { count, current_count: count, pages: 1, prev: null, current: 1, next: null }
      world.sandbox.setAnswer('/publisher/articles/list/blog', () => ({ body: { controller, results } }))
      expect((await world.syncNow(articles)).status).not.toBe('failed')
    }
    const other = { ...one, pk: 8, pinned: false }
    await list('10:00', one, other)
    await list('11:00', { ...one, pinned: false }, other)
    for (const hour of ['12:00', '13:00']) await list(hour, other)
    const told = () => world.rows(`select title, edited_at, removed_at from analytics.news where key = '7'`)
    expect(await told()).toEqual([['One', null, '12:00']])
    await list('14:00', one, other)
    expect(await told()).toEqual([['One', null, null]])
    await list('15:00', { ...one, title: 'Two' }, other)
    await list('16:00', { ...one, title: 'Two', pinned: false }, other)
    expect(await told()).toEqual([['Two', '15:00', null]])
  })

  test('ability_change: by class and by the name that players know', async () => {
    await world.syncNow(abilityTrees)
    await world.clock.advance(3_601_000)
    const tree = await world.api.abilities.tree('mage')
    const body = structuredClone(tree.body) as { pages: Record<string, Record<string, { slot: number; name: string }>> }
    const [page = {}] = Object.values(body.pages)
    const [one] = Object.values(page)
    if (one) one.slot += 1
    world.sandbox.setAnswer('/ability/tree/mage', () => ({ body }))
    await world.clock.advance(3_601_000)
    expect(await world.syncNow(abilityTrees)).toMatchObject({ changed: 1 })
    const [row] = await world.rows(
      `select class, name ~ '[<>]', path, new_value = to_jsonb(old_value::int + 1), is_revert from analytics.ability_change`,
    )
    expect(row).toEqual(['mage', false, '/slot', true, false])
  })

  test('news: one row each, with its edit or removal', async () => {
    const note = { title: 'News', date: '2026-06-01T09:00:00+00:00', forumThread: 'https://example.com/1', author: 'a' }
    await world.sync(latestNews, [{ ...note, content: 'x', comments: '1' }], '10:00')
    await world.sync(latestNews, [{ ...note, content: 'y', comments: '1' }], '11:00')
    const addresses = (...all: string[]) => Object.fromEntries(all.map((address, nth) => [String(nth + 1), address]))
    await world.sync(videos, addresses('https://example.com/a', 'https://example.com/b'), '12:00')
    for (const hour of ['13:00', '14:00']) await world.sync(videos, addresses('https://example.com/b'), hour)
    expect(
      await world.rows(
        'select kind, title, author, link, published_at, edited_at, removed_at from analytics.news order by 1, 4',
      ),
    ).toEqual([
      ['news', 'News', 'a', 'https://example.com/1', '09:00', '11:00', null],
      ['video', null, null, 'https://example.com/a', null, null, '13:00'],
      ['video', null, null, 'https://example.com/b', null, null, null],
    ])
    // Back after an absence, it was not edited.
    await world.sync(videos, addresses('https://example.com/a', 'https://example.com/b'), '15:00')
    await world.sync(
      latestNews,
      [{ ...note, forumThread: 'https://example.com/2', content: 'z', comments: '0' }],
      '15:00',
    )
    await world.sync(
      latestNews,
      [{ ...note, forumThread: 'https://example.com/2', content: 'z', comments: '0' }],
      '16:00',
    )
    await world.sync(latestNews, [{ ...note, content: 'y', comments: '2' }], '17:00')
    expect(await world.rows(`select edited_at from analytics.news where link = 'https://example.com/1'`)).toEqual([
      ['11:00'],
    ])
    await world.syncNow(articles)
    expect(await world.rows(`select count(*) > 20 from analytics.news where kind not in ('news', 'video')`)).toEqual([
      [true],
    ])
  })
})
