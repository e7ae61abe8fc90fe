import { parseHTML } from 'linkedom'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { reportOf } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'
import { instantOf, type World } from '../support/world.ts'

const coin = { name: 'Coin', type: 'ITEM', amount: 1, always: false }
const ore = { type: 'ORE', generation: 3600, baseGeneration: 3600, stored: 120, limit: 300 }
const owner = { 1: { rank: 'owner' } }

/** A member leaves, a place changes hands in a gap of weeks, and a pool is seen once. */
async function live(world: World): Promise<void> {
  for (const at of ['10:00', '10:10']) await syncGuild(world, guildBody('a', { ...owner, 2: {} }), at)
  for (const at of ['10:20', '10:30', '10:40']) await syncGuild(world, guildBody('a', owner), at)
  await world.sync(territories, { Oak: place('a', '09:00'), Elm: place(null, null) }, '10:00')
  await world.sync(lootPools, [{ name: 'Vault', internalName: 'vault', type: 'RAID', rewards: [coin] }], '10:00')
  await world.sync(territories, { Oak: place('b', '19 09:00'), Elm: place(null, null) }, '20 10:00')
}

describe('pages of what is not known now', () => {
  const web = webWorld('server', live)
  const pageOf = async (path: string) => {
    const { ask } = await web.served()
    const { status, text } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    const page = parseHTML(text).document
    return (selector: string) => String(page.querySelector(selector)?.textContent)
  }
  const unsent = async (resource: string, field: string, columns: string, since: string) =>
    await web.world.db.query(
      `insert into sync.unsent (resource, field, last_sent_at, from_at, received_from, had, out_of, run_id, columns)
       values ($1, $2, $3, $3, $3, 1, 1, gen_random_uuid(), array[$4])`,
      [resource, field, new Date(instantOf(since)), columns],
    )

  test('a member who left is in no guild now, and was last shown before', async () => {
    const page = await pageOf(`/players/${playerId(2)}`)
    expect(page('h1')).toBe('Player2 is in no known guild')
    expect(page('#spells tbody tr')).toMatch(/recruit.*2026-06-01 10:10.*2026-06-01 10:20/s)
    expect((await pageOf(`/players/${playerId(1)}`))('h1')).toBe('Player1 is owner of a guild (as seen 1 Jun, 10:40)')
  })

  test('a hold is as long as responses show it, not until another one was seen', async () => {
    const page = await pageOf('/territories/Oak')
    expect(page('#hold-list h3')).toMatch(/^Held longest by Guild b: 25 hours from .*, as far as responses show it$/)
  })

  test('nothing is free, and no pool empty, while the API does not say what is so', async () => {
    onTestFinished(async () => void (await web.world.db.query('delete from sync.unsent')))
    await unsent('territories', '/guild', 'territory_hold.guild_uuid', '20 10:00')
    await unsent('loot-pools', '/rewards', 'loot_pool_reward.*', '10:00')
    const oak = await pageOf('/territories/Oak')
    expect(oak('h1')).toContain('Who holds Oak is not known')
    const elm = await pageOf('/territories/Elm')
    expect([elm('h1').includes('is not known'), elm('#hold-list h3')]).toEqual([true, 'Who held it is not known'])
    const guild = await pageOf(`/guilds/${guildId('a')}`)
    expect(guild('h1')).toMatch(/, \? territories$/)
    expect(guild('#standing h3')).toBe('What it holds is not known')
    const pools = await pageOf('/pools')
    expect([pools('#rewards-1 h3'), pools('main').includes('(not sent)')]).toEqual(['What it has is not known', true])
    expect((await pageOf('/territories'))('#list tbody')).not.toContain('no owner')
    expect((await pageOf('/'))('#loot')).toContain('What the loot pools had is not known')
    const period = { from: new Date(instantOf('19 00:00')), to: new Date(instantOf('21 00:00')) }
    expect((await reportOf(web.world, period)).html).toContain('0 pools with 0 rewards')
  })

  test('one is not free whose record cannot be read, and another is', async () => {
    const list = async () => (await pageOf('/territories'))('#list tbody tr')
    expect([(await pageOf('/territories/Elm'))('h1'), await list()]).toEqual([
      expect.stringMatching(/^No guild holds Elm/),
      expect.stringContaining('no owner'),
    ])
    await web.world.db.query(
      `insert into sync.unread (resource, key, from_at, run_id) values ('territories/holds', 'Elm', $1, gen_random_uuid())`,
      [new Date(instantOf('20 10:00'))],
    )
    const page = await pageOf('/territories/Elm')
    expect([page('h1'), page('#hold-list h3')]).toEqual([
      expect.stringMatching(/^Who holds Elm is not known/),
      'Who held it is not known',
    ])
    expect(await list()).not.toContain('no owner')
  })
})

describe('pages of a map that was last seen weeks ago', () => {
  const web = webWorld('server', async (world) => {
    await world.sync(territories, { Oak: place('a', '08:00', { resources: [ore] }), Elm: place('b', '08:00') }, '10:00')
    await syncGuild(world, guildBody('a', owner), '20 10:00')
    await world.sync(lootPools, [{ name: 'Vault', internalName: 'vault', type: 'RAID', rewards: [coin] }], '20 10:00')
  })
  const textOf = async (path: string, selector: string) => {
    const { ask } = await web.served()
    return parseHTML((await ask(path)).text).document.querySelector(selector)?.textContent
  }
  const seen = '(as seen 1 Jun, 10:00)'

  test('say when, wherever they say who holds what', async () => {
    const guild = `/guilds/${guildId('a')}`
    expect(await textOf(guild, 'h1')).toBe(`Guild a [aaa]: 1 member, 1 territory ${seen}`)
    expect(await textOf(guild, '#standing h3')).toBe(`It holds 1 territory of 2 ${seen}`)
    expect(await textOf(guild, '#production h3')).toBe(`It produces 3,600 ore an hour ${seen}`)
    expect(await textOf('/territories', 'h1')).toBe(`2 territories have a holder, of 2 ${seen}`)
    expect(await textOf('/territories', '#empires h3')).toBe(
      'No guild held more or fewer at the end than at the beginning',
    )
  })

  test('have beside it what was seen later', async () => {
    expect(await textOf('/', '#loot')).toContain('Vault')
  })
})

describe('the page of a guild that only the map knows', () => {
  const web = webWorld('server', async (world) => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
  })

  test('misses it in no list of guilds while there is none', async () => {
    const { ask } = await web.served()
    const { document } = parseHTML((await ask(`/guilds/${guildId('a')}`)).text)
    expect(document.querySelector('h1')?.textContent).toBe('Guild a [aaa]: 1 territory')
    expect(document.querySelector('#not-listed h3')?.textContent).toBe('No list of guilds was synced yet')
  })
})
