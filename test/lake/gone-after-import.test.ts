import { beforeEach, describe, expect, test } from 'vitest'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { lastAccepted } from '../../src/sync/ledger/ledger.ts'
import { guildId } from '../support/guild-answers.ts'
import { lakeBetween } from '../support/lake-folder.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

const list = (letters: string) =>
  Object.fromEntries([...letters].map((letter) => [guildId(letter), { name: `Guild ${letter}`, prefix: letter }]))
const some = (...names: string[]) => names.map((name) => item(name))

describe('what is gone after an import', () => {
  const world = worldOf('server')
  const theirs = worldOf('server')
  let lake: ReturnType<typeof lakeBetween>
  beforeEach(() => {
    lake = lakeBetween(theirs, world)
  })
  const end = async (table?: string, key?: string) => (await world.versions(table, key)).at(-1)?.[2]
  const current = async () => (await lastAccepted(world.db, 'items'))?.currentKeys

  test('ends where the lake ended it, also with a date from before the first of two imports', async () => {
    await theirs.sync(guildList, list('abcdef'), '10:00')
    await theirs.sync(guildList, list('abcde'), '11:00')
    await lake.exported()
    await world.clock.advanceTo(instantOf('20:00'))
    await lake.imported()
    for (const at of ['12:00', '13:00', '15:00']) await theirs.sync(guildList, list('abcde'), at)
    await lake.exported()
    await lake.imported()
    for (const at of ['21:00', '22:00', '23:00']) await world.sync(guildList, list('abcde'), at)
    expect(await end('guild_listing', 'guild_uuid')).toBe('11:00')
  })

  test('ends, where an import left the guild that both databases lacked once', async () => {
    await world.sync(guildList, list('abcdef'), '10:50')
    await theirs.sync(guildList, list('abcdef'), '11:55')
    for (const at of ['12:55', '13:55']) await theirs.sync(guildList, list('abcde'), at)
    await world.sync(guildList, list('abcdef'), '14:00')
    for (const at of ['14:55', '15:55']) await theirs.sync(guildList, list('abcde'), at)
    await lake.exported()
    await world.clock.advanceTo(instantOf('20:00'))
    await lake.imported()
    for (const at of ['21:00', '22:00', '23:00']) await world.sync(guildList, list('abcde'), at)
    expect(await end('guild_listing', 'guild_uuid')).toBe('21:00')
  })

  test('and what the API does not send is unknown here, too, until a response has it', async () => {
    const named = ['Ash', 'Elm', 'Fir', 'Oak', 'Yew']
    const all = named.map((name) => item(name, { tier: 'rare' }))
    await theirs.sync(items, all, '10:00')
    for (const at of ['11:00', '12:00', '13:00']) await theirs.sync(items, some(...named), at)
    const tiers = () => world.rows('select distinct tier from analytics.item')
    await lake.exported()
    await world.clock.advanceTo(instantOf('20:00'))
    await lake.imported()
    expect(await world.rows('select field, from_at, until_at, columns from sync.unsent')).toEqual([
      ['/tier', '11:00', null, ['item.tier']],
    ])
    expect(await tiers()).toEqual([[null]])
    for (const at of ['21:00', '22:00']) await world.sync(items, all, at)
    expect(await tiers()).toEqual([['rare']])
    expect(await world.rows('select from_at, until_at from sync.unsent')).toEqual([['11:00', '21:00']])
  })

  test('and what the API sends again is known here from the next import on', async () => {
    const named = ['Ash', 'Elm', 'Fir', 'Oak', 'Yew']
    const all = named.map((name) => item(name, { tier: 'rare' }))
    await theirs.sync(items, all, '10:00')
    for (const at of ['11:00', '12:00', '13:00']) await theirs.sync(items, some(...named), at)
    await lake.exported()
    await world.clock.advanceTo(instantOf('13:10'))
    await lake.imported()
    for (const at of ['14:00', '15:00']) await theirs.sync(items, all, at)
    await lake.exported()
    await world.clock.advanceTo(instantOf('15:10'))
    await lake.imported()
    const spans = 'select field, from_at, until_at from sync.unsent'
    expect(await world.rows(spans)).toEqual([['/tier', '11:00', '14:00']])
    expect(await world.rows('select distinct tier from analytics.item')).toEqual([['rare']])
  })

  test('is counted: the number of current keys is that of the table, also where it was not known', async () => {
    await theirs.sync(items, some('Ash', 'Elm', 'Fir', 'Oak'), '10:00')
    await theirs.sync(items, some('Ash', 'Elm', 'Fir'), '11:00')
    await lake.exported()
    await world.sync(items, some('Ash', 'Elm', 'Yew'), '09:00')
    await world.clock.advanceTo(instantOf('11:10'))
    await lake.imported()
    const inTable = async () =>
      (await world.rows(`select count(*)::int from game.item where valid_until = 'infinity'`))[0]?.[0]
    expect([await current(), await inTable()]).toEqual([5, 5])
    await world.db.query(`update sync.run set living = null`)
    expect(await world.sync(items, some('Ash', 'Elm', 'Fir'), '12:00')).not.toMatchObject({ status: 'failed' })
    // Theirs lacked one already.
    expect([await current(), await inTable()]).toEqual([4, 4])
    for (const at of ['13:00', '14:00']) await world.sync(items, some('Ash', 'Elm', 'Fir'), at)
    expect(await current()).toBe(3)
    expect(await end()).toBe('12:00')
  })
})
