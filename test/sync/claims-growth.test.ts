import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

describe.each(kindsOfLongTests)('claims on the %s database', (kind) => {
  const world = worldOf(kind)

  test('about a place that is captured again in each response stay few', async () => {
    const at = (poll: number) =>
      `10:${String(Math.floor(poll / 6)).padStart(2, '0')}:${(poll % 6) * 10}`.replace(/:0$/, ':00')
    const rest = { Elm: place('b', '09:00') }
    for (let poll = 0; poll < 30; poll++)
      await world.sync(territories, { ...rest, Oak: place('a', at(poll)) }, at(poll))
    expect(await world.rows(`select count(*)::int from sync.claim where kind = 'shown'`)).toEqual([[20]])
    await world.sync(territories, { ...rest, Oak: place('a', at(29)) }, at(30))
    expect(await world.rows('select * from sync.claim')).toEqual([])
    expect(await world.rows(`select count(*)::int from game.territory_capture`)).toEqual([[29]])
  })
})
