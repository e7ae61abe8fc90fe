import { describe, expect, test } from 'vitest'
import { corroborate, forgetContradicted, pendingClaims, type Witness } from '../../src/sync/evidence/claims.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

describe.each(kindsOfPart)('a claim on the %s database', (kind) => {
  const world = worldOf(kind)
  const witness = (at: string, receivedAt = at): Witness => ({
    resource: 'items',
    cacheSeconds: 10,
    at: new Date(instantOf(at)),
    receivedAt: new Date(instantOf(receivedAt)),
    runId: '00000000-0000-4000-8000-000000000000',
    guards: { absences: 2 },
  })
  /** How often it counts after each of these responses; 0: confirmed. */
  const timesAfter = async (...responses: readonly Witness[]) => {
    const times: number[] = []
    for (const one of responses)
      times.push((await corroborate(world.db, one, 'shrunken', [{ subject: '', value: '4' }])).pending[0]?.times ?? 0)
    return times
  }

  test('counts responses of another cache window by both clocks, and of this machine half a window is enough', async () => {
    const copies = [witness('10:00'), witness('10:00'), witness('10:00', '10:20'), witness('10:00:09', '10:20')]
    expect(await timesAfter(...copies, witness('10:00:10', '10:00:04'), witness('10:00:10', '10:00:05'))).toEqual([
      1, 1, 1, 1, 1, 2,
    ])
    expect(await timesAfter(witness('10:30', '10:00:06'), witness('10:30', '10:00:10'))).toEqual([2, 0])
  })

  test('is confirmed although the clock of this machine was a month ahead once', async () => {
    expect(await timesAfter(witness('10:00', '30 10:00'), witness('10:00:10'), witness('10:00:20'))).toEqual([1, 1, 2])
    expect(await timesAfter(witness('10:00:30'))).toEqual([0])
  })

  test('counts anew where the first one speaks for hours ahead, and not where an earlier copy comes again', async () => {
    expect(await timesAfter(witness('02 17:00', '10:00'), witness('10:01'), witness('10:02'))).toEqual([1, 1, 2])
    expect(
      await timesAfter(witness('10:01', '10:03'), witness('10:02', '10:04'), witness('10:02:10', '10:05')),
    ).toEqual([2, 2, 0])
  })

  test('counts a whole window by the clock of this machine where instants are but an order', async () => {
    const ordered = (millisecond: number, receivedAt: string) => {
      const at = new Date(instantOf('12:00') + millisecond)
      return { ...witness('12:00', receivedAt), at, isOrderOnly: true }
    }
    const copies = [ordered(1, '10:00'), ordered(2, '10:00:05'), ordered(2, '10:00:09')]
    expect(await timesAfter(...copies, ordered(3, '10:00:10'), ordered(3, '10:00:20'))).toEqual([1, 1, 1, 2, 0])
  })

  test('is about its own resource, kind, key and value alone', async () => {
    const subjects = ['', 'a', 'a/1', 'ab', 'ab/1', 'A', 'A/1', 'b/a', 'a%', 'a_']
    const claims = subjects.map((subject) => ({ subject }))
    const [items, other] = [witness('10:00'), { ...witness('10:00'), resource: 'items/parts' }]
    for (const kind of ['missing', 'flawed'] as const)
      for (const one of [items, other]) await corroborate(world.db, one, kind, claims)
    await corroborate(world.db, items, 'flawed', [{ subject: 'a', value: 'x' }])
    const subjectsOf = async (one: Witness, kind: 'missing' | 'flawed', scope?: string) =>
      (await pendingClaims(world.db, one, kind, scope)).map(({ subject, value }) => subject + value).sort()
    expect(await subjectsOf(items, 'missing', 'a')).toEqual(['a', 'a/1'])
    await forgetContradicted(world.db, items, 'flawed', [{ subject: 'a', value: 'x' }], 'a')
    expect(await subjectsOf(items, 'flawed', 'a')).toEqual(['ax'])
    expect(await subjectsOf(items, 'flawed', 'ab')).toEqual(['ab', 'ab/1'])
    for (const [one, kind] of [
      [items, 'missing'],
      [other, 'missing'],
      [other, 'flawed'],
    ] as const)
      expect(await subjectsOf(one, kind)).toEqual(subjects.toSorted())
  })
})
