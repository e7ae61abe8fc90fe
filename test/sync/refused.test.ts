import { afterEach, describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { item, worldOf } from '../support/world.ts'

const level = (name: string, at: number) => item(name, { requirements: { level: at } })

describe.each(kindsOfPart)('what only the %s database refuses', (kind) => {
  const world = worldOf(kind)
  let refused: [table: string, name: string][] = []
  const quarantine = () => world.rows('select key, reason from sync.quarantine order by 1')

  /** A rule that no check before the transaction knows. */
  async function refuse(table: string, rule: string): Promise<void> {
    const name = `test_rule_${refused.length}`
    await world.db.query(`alter table ${table} add constraint ${name} check (${rule})`)
    refused.push([table, name])
  }

  afterEach(async () => {
    for (const [table, name] of refused) await world.db.query(`alter table ${table} drop constraint ${name}`)
    refused = []
  })

  test('goes to quarantine, and all others load', async () => {
    const many = Array.from({ length: 40 }, (_, nth) => level(`Tree ${nth}`, 1))
    await world.sync(items, [level('Elm', 1), level('Oak', 1), ...many], '10:00')
    await refuse('game.item', 'level <> 13')
    await refuse('game.item_major_id', `major_id <> 'odd'`)
    const odd = item('Ash', { majorIds: { odd: 'a rule' } })
    const body = [level('Elm', 13), level('Oak', 2), odd, ...many, level('Yew', 2)]
    expect(await world.sync(items, body, '11:00')).toMatchObject({
      status: 'partial',
      inserted: 1,
      changed: 1,
      closed: 0,
      quarantined: 2,
    })
    expect(await quarantine()).toEqual([
      ['Ash', expect.stringMatching(/^the database refuses it: .*item_major_id/)],
      ['Elm', expect.stringMatching(/^the database refuses it: .*item/)],
    ])
    expect(await world.rows(`select level, valid_until from game.item where internal_name = 'Elm'`)).toEqual([
      [1, 'infinity'],
    ])
    expect(await world.sync(items, body, '12:00')).toMatchObject({ status: 'partial', changed: 0, closed: 0 })
    expect(
      await world.sync(items, [level('Elm', 3), level('Oak', 2), ...many, level('Yew', 2)], '13:00'),
    ).toMatchObject({
      status: 'ok',
      changed: 1,
    })
  })

  test('may be a piece of a record: a membership, a sample, a hold', async () => {
    await refuse('game.guild_member', `username <> 'Player2'`)
    await refuse('game.member_counter', 'value <> 66')
    const body = guildBody('a', { 1: { rank: 'owner', contributed: 5 }, 2: {}, 3: { contributed: 66 } })
    expect(await syncGuild(world, body, '10:00')).toMatchObject({ status: 'partial', inserted: 1, quarantined: 2 })
    expect((await quarantine()).map(([key]) => key)).toEqual([guildId('a'), `${guildId('a')}/${playerId(2)}`])
    expect(await world.rows('select count(*) from game.guild_member')).toEqual([[2]])
    expect(await world.rows('select max(value) from game.member_counter')).toEqual([[5]])
    await refuse('game.territory_hold', `guild_prefix <> 'bbb'`)
    const map = { Oak: place('a', '08:00'), Elm: place('b', '08:00') }
    expect(await world.sync(territories, map, '10:05')).toMatchObject({ inserted: 2, quarantined: 1 })
    expect(await world.rows('select territory from game.territory_hold')).toEqual([['Oak']])
  })

  test('fails the response where it is none of its records', async () => {
    await refuse('sync.run', `resource <> 'items' or status = 'failed'`)
    expect(await world.sync(items, [item('Elm')], '10:00')).toMatchObject({ status: 'failed', temporary: false })
    expect(await world.rowCounts()).toEqual({ 'sync.run': 1 })
  })
})
