import { expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { worldOf } from '../support/world.ts'

const world = worldOf('server')

test('A hold goes from its first response to its tombstone as the page about the life of a version draws it', async () => {
  const others = Object.fromEntries(Array.from({ length: 20 }, (_, nth) => [`Place ${nth}`, place('b', '08:00')]))
  const show = async (at: string, ford: object | undefined) => {
    await world.sync(territories, ford ? { ...others, Ford: ford } : others, at)
    const claims = await world.rows(`select kind, times, first_at from sync.claim where subject = 'Ford' order by 3`)
    const holds = await world.rows(
      `select left(guild_name, 7), valid_from, valid_until from game.territory_hold where territory = 'Ford' order by valid_from`,
    )
    const captures = await world.rows(
      `select captured_at from game.territory_capture where territory = 'Ford' order by 1`,
    )
    return { claims, holds, captures: captures.flat() }
  }
  const [ofA, first, second] = [place('a', '09:00'), place('c', '10:01:30'), place('c', '10:04:30')]
  const [holdOfA, never] = [['Guild a', '09:00', 'infinity'], 'infinity']
  const held = { claims: [], holds: [holdOfA], captures: [] }
  expect(await show('10:00', ofA)).toEqual(held)
  expect(await show('10:01', ofA)).toEqual(held)
  const shown = ['shown', 1, '10:02']
  const captured = {
    holds: [
      ['Guild a', '09:00', '10:01:30'],
      ['Guild c', '10:01:30', never],
    ],
    captures: ['10:01:30'],
  }
  expect(await show('10:02', first)).toEqual({ claims: [shown], ...captured })
  expect(await show('10:03', ofA)).toEqual({ claims: [shown, ['older', 1, '10:03']], ...captured })
  expect(await show('10:04', ofA)).toEqual({ ...held, claims: [shown] })
  const holds = (until: string) => [
    ['Guild a', '09:00', '10:04:30'],
    ['Guild c', '10:04:30', until],
  ]
  const again = { holds: holds(never), captures: ['10:04:30'] }
  expect(await show('10:05', second)).toEqual({ claims: [shown, ['shown', 1, '10:05']], ...again })
  expect(await show('10:06', second)).toEqual({ claims: [], ...again })
  expect(await show('10:07', undefined)).toEqual({ claims: [['missing', 1, '10:07']], ...again })
  expect(await show('10:08', undefined)).toEqual({ ...again, claims: [], holds: holds('10:07') })
})
