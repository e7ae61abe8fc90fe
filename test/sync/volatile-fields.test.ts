import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, syncGuild } from '../support/guild-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { item, worldOf } from '../support/world.ts'

const names = Array.from({ length: 12 }, (_, nth) => `Place ${String(nth).padStart(2, '0')}`)
const minute = (nth: number) => new Date(Date.UTC(2026, 5, 1, 10, nth)).toISOString().slice(11, 16)
const at = (day: number, time: string) => `${String(day).padStart(2, '0')} ${time}`

describe.each(kindsAtNight)('an unknown field that moves with each response, in the %s database,', (kind) => {
  const world = worldOf(kind)
  const { sync, rows } = world
  const count = async (table: string) => Number((await rows(`select count(*) from ${table}`))[0]?.[0])
  const map = (fields: (name: string) => object) =>
    Object.fromEntries(names.map((name) => [name, place('a', '08:00', fields(name))]))

  test('makes two versions of each territory, and no more; its latest value is kept', async () => {
    for (let nth = 0; nth < 30; nth++) {
      const { status } = await sync(
        territories,
        map(() => ({ heat: nth })),
        minute(nth),
      )
      if (nth > 3) expect(status).toBe('unchanged')
    }
    expect(await count('game.territory')).toBe(36)
    expect(await rows(`select distinct extra from game.territory where valid_until = 'infinity'`)).toEqual([
      [{ heat: 29 }],
    ])
    expect(await rows(`select kind, path from sync.drift order by kind`)).toEqual([
      ['unknown_field', '/heat'],
      ['volatile_field', '/heat'],
    ])
    // Another change makes a version as before.
    await sync(
      territories,
      map((name) => ({ heat: 31, hq: name === names[0] })),
      minute(31),
    )
    expect(await count('game.territory')).toBe(48)
  })

  const guild = Reflect.get(place('a', '08:00'), 'guild')
  test.each<[string, (one: object) => object, (one: object) => object]>([
    ['beside the known ones', (one) => one, (one) => one],
    ['in the place of its guild', (one) => ({ guild: { ...guild, ...one } }), (one) => ({ guild: one })],
  ])('makes three versions also under a name that is another one each time, %s', async (_where, sent, kept) => {
    const one = (nth: number) => ({ [`heat ${nth}`]: nth, stays: 7 })
    for (let nth = 0; nth < 100; nth++)
      await sync(
        territories,
        map(() => sent(one(nth))),
        nth < 60 ? minute(nth) : minute(nth).replace('10:', '11:'),
      )
    expect(await count('game.territory')).toBe(36)
    expect(await rows(`select distinct extra from game.territory where valid_until = 'infinity'`)).toEqual([
      [kept(one(99))],
    ])
    expect(await count(`sync.claim where kind = 'volatile'`)).toBeLessThan(12)
    // Fifty of each kind, and one for the others.
    expect(await count('sync.drift')).toBeLessThan(3 * 51)
    expect(await rows(`select kind from sync.drift where path like '%/*'`)).toContainEqual(['volatile_field'])
    // Another change makes a version as before.
    await sync(
      territories,
      map((name) => ({ ...sent(one(100)), hq: name === names[0] })),
      '13:00',
    )
    expect(await count('game.territory')).toBe(48)
  })

  test('is in quarantine once where it is a number that cannot be kept, and makes no version', async () => {
    for (let nth = 0; nth < 6; nth++)
      await sync(
        territories,
        map((name) => ({ nanoseconds: 2 ** 60 + 4096 * (nth + names.indexOf(name)) })),
        minute(nth),
      )
    expect(await rows('select key, path, raw::text from sync.quarantine')).toEqual([
      ['Place 00', '/nanoseconds', String(2 ** 60)],
    ])
    expect(await count('game.territory')).toBe(12)
  })

  test('is in quarantine once, whatever the keys are under which records have it', async () => {
    const rolled = (nth: number) => ({ min: 1, raw: 2, max: 3, huge: 2 ** 60 + 4096 * nth })
    for (const [nth, hour] of ['10:00', '11:00', '12:00'].entries())
      await sync(
        items,
        [item('Axe', { identifications: { [`stat${nth}`]: rolled(nth), damage: rolled(nth + 9) } })],
        hour,
      )
    expect(await rows('select path from sync.quarantine')).toEqual([['/identifications/stat0/huge']])
  })

  test('counts again once it has been calm for a week', async () => {
    for (let nth = 0; nth < 6; nth++)
      await sync(
        territories,
        map(() => ({ heat: nth })),
        minute(nth),
      )
    expect(await count('game.territory')).toBe(36)
    await sync(
      territories,
      map(() => ({ heat: 5 })),
      at(9, '10:00'),
    )
    await sync(
      territories,
      map(() => ({ heat: 6 })),
      at(9, '10:01'),
    )
    expect(await count('game.territory')).toBe(48)
  })

  test('does not become one by a change a day', async () => {
    for (let day = 1; day < 8; day++)
      for (const time of ['10:00', '10:01', '22:00'])
        await sync(
          territories,
          map(() => ({ heat: day })),
          at(day, time),
        )
    expect(await count('game.territory')).toBe(7 * names.length)
  })

  test('is volatile too where it moves in few records at a time', async () => {
    for (let nth = 0; nth < 40; nth++)
      await sync(
        territories,
        map((name) => ({ heat: name === names[nth % 12] ? nth : 0 })),
        minute(nth),
      )
    const versions = await count('game.territory')
    expect(versions).toBeLessThan(12 + 12 * 2)
    expect(versions).toBeGreaterThan(20)
  })

  test('leaves changes of items to what is no such field', async () => {
    const all = (heat: number, level = 1) => names.map((name) => item(name, { heat, requirements: { level } }))
    for (let nth = 0; nth < 20; nth++)
      await sync(items, all(nth), `${minute(0).replace('10', String(nth).padStart(2, '0'))}`)
    expect(await count('game.field_change')).toBe(2 * names.length)
    await sync(items, all(20, 2), '20:00')
    expect(await rows(`select distinct path from game.field_change where changed_at = '2026-06-01 20:00Z'`)).toEqual([
      ['/requirements/level'],
    ])
    expect(await rows(`select distinct document ->> 'heat' from game.item where valid_until = 'infinity'`)).toEqual([
      ['20'],
    ])
  })

  test('is not a known field that comes in other forms: what it says in its own form is a version', async () => {
    const all = (requirements: unknown) => names.map((name) => item(name, { requirements }))
    const hour = (nth: number) => `${String(nth).padStart(2, '0')}:00`
    await sync(items, all({ level: 1 }), hour(0))
    for (let nth = 1; nth < 9; nth++) await sync(items, all(nth % 2 === 0 ? { level: 1 } : [nth]), hour(nth))
    await sync(items, all({ level: 2 }), hour(9))
    await sync(items, all({ level: 3 }), hour(10))
    const versions = await rows(
      `select valid_from::text, hash is distinct from lag(hash) over (order by valid_from), level,
              document #>> '{requirements,level}'
         from game.item where internal_name = '${names[0]}' order by valid_from`,
    )
    expect(versions.slice(-3).map(([, ...rest]) => rest)).toEqual([
      [true, 1, '1'],
      [true, 2, '2'],
      [true, 3, '3'],
    ])
    expect(versions.filter(([, isOther]) => !isOther)).toEqual([])
    // Each of them has the change that made it.
    expect(
      await rows(`select version.valid_from from game.item version where version.previous_until is not null and not exists (
                    select from game.field_change change where change.key = version.internal_name and change.changed_at = version.valid_from)`),
    ).toEqual([])
  })

  test('is counted for each guild, and for all once several have it', async () => {
    const guild = (letter: string, heat: number) =>
      guildBody(letter, { 1: { rank: 'owner', mana: heat }, 2: { mana: heat + 1 } }, { heat })
    for (let nth = 0; nth < 60; nth += 4) await syncGuild(world, guild('a', nth), minute(nth))
    const [versions, members] = [await count('game.guild'), await count('game.guild_member')]
    expect([versions, members]).toEqual([3, 6])
    expect(await rows(`select extra from game.guild where valid_until = 'infinity'`)).toEqual([[{ heat: 56 }]])
    expect(
      await rows(`select extra from game.guild_member where valid_until = 'infinity' order by player_uuid`),
    ).toEqual([[{ mana: 56 }], [{ mana: 57 }]])
    for (const letter of ['b', 'c', 'd'])
      for (let nth = 60; nth < 80; nth += 4)
        await syncGuild(
          world,
          guild(letter, nth),
          `${letter === 'b' ? 12 : letter === 'c' ? 13 : 14}:${nth % 60 < 10 ? '0' : ''}${nth % 60}`,
        )
    expect(await rows('select guild_uuid, count(*)::int from game.guild group by 1 order by 1')).toEqual([
      [guildId('a'), 3],
      [guildId('b'), 3],
      [guildId('c'), 3],
      [guildId('d'), 1],
    ])
  })
})
