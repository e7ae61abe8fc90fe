import { parseHTML } from 'linkedom'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { reportOf } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'
import { instantOf, type World } from '../support/world.ts'

const coin = { name: 'Coin', type: 'ITEM', amount: 1, always: false }
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
