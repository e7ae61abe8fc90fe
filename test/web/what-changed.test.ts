import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { quests } from '../../src/resources/quests/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import { bothKinds } from '../support/postgres.ts'
import { webWorld } from '../support/web-world.ts'
import { item } from '../support/world.ts'

const VERSIONS = 105

const event = (internalName: string, level: number) => ({
  name: `Event ${internalName.slice(-1)}`,
  internalName,
  lore: 'Text',
  difficulty: 'HARD',
  level,
  length: 'SHORT',
  rewardPerLevel: null,
  requirements: [],
  location: [],
  schedule: null,
})
const [first, second] = ['0a0b0c0d', '0a0b0c0e']
const reward = (name: string) => ({ name, type: 'ITEM', amount: 1, always: false, tier: 'MYTHIC' })
const pool = (...names: readonly string[]) => ({
  name: 'The Vault',
  internalName: 'vault',
  type: 'RAID',
  rewards: names.map(reward),
})
const bow = (averageDps: number) =>
  item('Bow', {
    type: 'weapon',
    subType: 'bow',
    tier: 'rare',
    averageDps,
    requirements: { level: 20, classRequirement: 'archer' },
    identifications: { walkSpeed: 5 },
  })
const others = [
  item('Cap', { type: 'armour', subType: 'helmet', tier: 'mythic', requirements: { level: 80 } }),
  item('Odd', { type: 'weapon', subType: 'relik', tier: 'TIER_1' }),
]

const PERIOD = 'from=2026-06-01T10:30Z&to=2026-06-01T11:30Z'

describe.each(bothKinds)('what there is, and what of it changed in a period, on the %s database', (kind) => {
  const web = webWorld(kind, async (world) => {
    await world.sync(worldEvents, [event(first, 30)], '10:00')
    await world.sync(worldEvents, [event(first, 35), event(second, 1)], '11:00')
    for (const at of ['12:00', '13:00']) await world.sync(worldEvents, [event(second, 1)], at)
    await world.sync(lootPools, [pool('Old Bow', 'Pale Coin')], '10:00')
    await world.sync(lootPools, [pool('Pale Coin', 'New Bow')], '11:00')
    await world.sync(lootPools, [pool('Last Bow')], '13:00')
    for (const [at, amount] of [
      ['10:00', 100],
      ['11:00', 102],
      ['13:00', 105],
    ] as const)
      await world.sync(quests, { quests: amount }, at)
    await world.sync(
      seasons,
      {
        1: { initDate: '2026-01-01T10:00:00Z', endDate: '2026-03-01T10:00:00Z' },
        2: { initDate: '2026-05-01T10:00:00Z', endDate: '2026-07-01T10:00:00Z' },
      },
      '10:00',
    )
    await world.sync(items, [bow(10), ...others], '10:00')
    await world.sync(items, [bow(11), ...others], '11:00')
    await world.sync(items, [bow(12), ...others], '12:00')
    // Each version of Odd a minute after the one before.
    await world.db.query(`update game.item set valid_until = '2026-06-01T10:01Z' where internal_name = 'Odd'`)
    await world.db.query(
      `insert into game.item (internal_name, display_name, type, tier, valid_from, valid_until, previous_until, document, hash)
       select 'Odd', 'Odd', 'weapon', 'TIER_1', at, case when nth < ${VERSIONS - 1} then at + interval '1 minute' else 'infinity' end, at,
              jsonb_build_object('internalName', 'Odd', 'averageDps', nth), decode(to_hex(nth + 256), 'escape')
         from generate_series(1, ${VERSIONS - 1}) nth cross join lateral (select timestamptz '2026-06-01T10:00Z' + make_interval(mins => nth) as at) moment`,
    )
  })
  const pageOf = async (path: string) => {
    const { ask } = await web.served()
    const { status, text } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    const { document } = parseHTML(text)
    return {
      document,
      text: (selector: string) => document.querySelector(selector)?.textContent ?? '',
      rows: (id: string) =>
        [...document.querySelectorAll(`#${id} tbody tr`)].map((row) =>
          [...row.children].map((cell) => String(cell.textContent)),
        ),
      links: (selector: string) =>
        [...document.querySelectorAll(selector)].map((one) => String(one.getAttribute('href'))),
    }
  }

  test('is a list of all there is, or of what appeared, changed and disappeared, with what differs', async () => {
    const all = await pageOf('/events')
    expect([all.text('h1'), all.rows('list').map(([name]) => name)]).toEqual(['1 world event', ['Event e']])
    expect(all.text('.period [aria-current]')).toBe('all')
    const during = await pageOf(`/events?${PERIOD}`)
    expect(during.text('h1')).toBe('2 changes of world events')
    expect(during.rows('list').map((row) => row.slice(0, 4))).toEqual([
      ['Event d', '2026-06-01 11:00', 'level: 30 → 35', '35'],
      ['Event e', '2026-06-01 11:00', 'appeared', '1'],
    ])
    const later = await pageOf('/events?from=2026-06-01T11:30Z&to=2026-06-01T13:00Z')
    expect(later.rows('list').map((row) => row.slice(0, 3))).toEqual([['Event d', '2026-06-01 12:00', 'disappeared']])
    // What the first response had did not appear with it.
    const early = await pageOf('/events?from=2026-06-01T09:30Z&to=2026-06-01T10:30Z')
    expect(early.text('h1')).toBe('No change of world events was seen in this period')
    expect((await pageOf('/events?from=2026-05-01&to=2026-05-02')).text('h1')).toBe(
      'No world event was seen in this period',
    )
    expect((await pageOf(`/raids?${PERIOD}`)).text('main code')).toBe('wynnsync sync raids')
    const found = await pageOf(`/events?${PERIOD}&q=event%20d&sort=name`)
    expect([found.text('h1'), found.rows('list').length]).toEqual(['1 change of world events like event d', 1])
    for (const href of during.links('.period > a, #list th a')) await pageOf(href)
  })

  test('is of seasons which of them ran', async () => {
    expect((await pageOf('/seasons')).text('h1')).toBe('2 seasons')
    const during = await pageOf(`/seasons?${PERIOD}`)
    expect([during.text('h1'), during.rows('list').map(([number]) => number)]).toEqual(['1 season', ['2']])
  })

  test('is of quests how many there were at its end, and what changed', async () => {
    const during = await pageOf(`/quests?${PERIOD}`)
    expect(during.text('h1')).toBe('102 quests in the game, as seen 1 Jun, 11:00')
    expect(during.rows('changes').map((row) => row.slice(2, 4))).toEqual([['100', '102']])
    expect((await pageOf('/quests')).rows('changes').length).toBe(2)
    const before = await pageOf('/quests?from=2026-05-01&to=2026-05-02')
    expect(before.text('h1')).toBe('No number of quests was seen by then')
  })

  test('is of loot pools what they had at its end, what of that is new, and what is no longer there', async () => {
    const during = await pageOf(`/pools?${PERIOD}`)
    expect(during.rows('rewards-1').map((row) => [row[0], row.at(-1)])).toEqual([
      ['New Bow', 'yes'],
      ['Pale Coin', ''],
    ])
    expect(during.text('#rewards-1 h3')).toBe('2 rewards, 1 of them new')
    expect(during.rows('rewards-left').map((row) => row.slice(0, 3))).toEqual([
      ['2026-06-01 11:00', 'The Vault (raid)', 'Old Bow'],
    ])
    const now = await pageOf('/pools')
    expect(now.rows('rewards-1').map(([name]) => name)).toEqual(['Last Bow'])
    expect(now.rows('rewards-left').map((row) => row[2])).toEqual(['New Bow', 'Pale Coin', 'Old Bow'])
    expect((await pageOf('/pools?from=2026-05-01&to=2026-05-02')).text('h1')).toBe(
      'No loot pool is known at the end of this period',
    )
  })

  test('is of items what changed of those that are wanted, by choices of what is recorded', async () => {
    const all = await pageOf('/items')
    expect(all.rows('list').map(([name]) => name)).toEqual(['Bow', 'Cap', 'Odd'])
    const choices = (page: typeof all, name: string) =>
      [...page.document.querySelectorAll(`main, header`)].flatMap((part) =>
        [...part.querySelectorAll(`select[name=${name}] option`)].map((one) => String(one.getAttribute('value'))),
      )
    expect(choices(all, 'type')).toEqual(['', 'armour', 'helmet', 'weapon', 'bow'])
    expect(choices(all, 'tier')).toEqual(['', 'TIER_1', 'rare', 'mythic'])
    expect(choices(all, 'class')).toEqual(['', 'archer'])
    expect(choices(all, 'stat')).toEqual(['', 'walkSpeed'])
    const during = await pageOf(`/items?${PERIOD}&type=bow&tier=rare&class=archer&least=10&most=20&stat=walkSpeed`)
    expect(during.text('h1')).toBe('1 change of items')
    expect(during.rows('list').map((row) => [row[2], row[0], row.at(-1)])).toEqual([
      ['average dps: 10 → 11', 'Bow', '5'],
    ])
    const chosen = ['type', 'tier', 'class', 'stat'].map((name) =>
      during.document.querySelector(`select[name=${name}] option[selected]`)?.getAttribute('value'),
    )
    expect(chosen).toEqual(['bow', 'rare', 'archer', 'walkSpeed'])
    expect(during.document.querySelector('form[role=search] input[name=least]')?.getAttribute('type')).toBe('number')
    expect(during.document.querySelector('form[role=search] input[name=from]')?.getAttribute('value')).toBeTruthy()
    // As it was typed before there were choices; and what is no choice stays what the list is narrowed by.
    const typed = await pageOf('/items?stat=Walk%20speed&type=BOW')
    expect(typed.rows('list').map(([name]) => name)).toEqual(['Bow'])
    expect(typed.document.querySelector('select[name=stat] option[selected]')?.getAttribute('value')).toBe('walkSpeed')
    const none = await pageOf('/items?class=bard')
    expect(none.document.querySelector('select[name=class] option[selected]')?.getAttribute('value')).toBe('bard')
  })

  test('is of an item every version, so many at a time, and what it was at the end of a period', async () => {
    const whole = await pageOf('/items/Odd')
    expect(whole.text('h1')).toMatch(/^Odd changed more than \d+ times, last on /)
    expect(whole.text('#part h3')).toBe(`Versions 1 to 100 of ${VERSIONS}`)
    const [next] = whole.links('header p.at a')
    const rest = await pageOf(String(next))
    expect(rest.text('#part h3')).toBe(`Versions 101 to ${VERSIONS} of ${VERSIONS}`)
    const revisions = (page: typeof whole) =>
      [...page.document.querySelectorAll('#revisions figure[id^=at-] h3')].map(({ textContent }) => textContent)
    // The first version is no revision; each other one is on one page.
    const shown = [...revisions(whole), ...revisions(rest)]
    expect([shown.length, new Set(shown).size, shown.filter((one) => one?.includes('disappeared'))]).toEqual([
      VERSIONS - 1,
      VERSIONS - 1,
      [],
    ])
    const during = await pageOf('/items/Odd?from=2026-06-01T10:04:30Z&to=2026-06-01T10:06:30Z')
    expect(during.text('h1')).toBe('Odd at the end of this period')
    expect(revisions(during)).toEqual([
      '2026-06-01 10:06: 1 value changed: 1 number up, 0 down',
      '2026-06-01 10:05: 1 value changed: 1 number up, 0 down',
    ])
    const compared = await pageOf('/items/Odd?a=2026-06-01T10:02:30Z&b=2026-06-01T11:44:30Z')
    expect(compared.rows('compare').map((row) => row.slice(0, 3))).toEqual([['average dps', '2', '104']])
    expect((await pageOf('/items/Odd?from=2026-05-01&to=2026-05-02')).text('h1')).toBe(
      'Odd: no response shows it at the end of this period',
    )
  })
})
