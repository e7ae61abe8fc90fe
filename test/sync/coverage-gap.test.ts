import { describe, expect, test } from 'vitest'
import { gapsBetween } from '../../src/sync/ledger/gaps.ts'

const minute = 60_000
const everyMinute = [{ from: 0, every: 60 }]
const between = (ended: number, expected: Parameters<typeof gapsBetween>[0]['expected'] = everyMinute, began = 0) =>
  gapsBetween({ began, ended, distance: ended - began, expected })

describe('between two observations', () => {
  test('nothing is missed while the second is late by no more than half its time', () => {
    for (const late of [0.1, 1, 1.03, 1.5]) expect(between(late * minute)).toEqual([])
  })

  test.each([
    [1.51, 1],
    [2, 1],
    [2.4, 1],
    [3, 2],
    [60, 59],
  ])('%s periods apart, %s are missed', (periods, missed) => {
    expect(between(periods * minute)).toEqual([{ began: 0, ended: periods * minute, missed }])
  })

  test('what is on time by the clock of who asked is on time, however old the copies were', () => {
    expect(gapsBetween({ began: 0, ended: 1.9 * minute, distance: minute, expected: everyMinute })).toEqual([])
  })

  test('the order of time is not turned around', () => {
    expect(gapsBetween({ began: 10, ended: 5, distance: 3 * minute, expected: everyMinute })).toEqual([])
    expect(between(-minute)).toEqual([])
  })

  test('the first expectation holds for the time before it was expected', () => {
    expect(between(3 * minute, [{ from: 100 * minute, every: 60 }])).toEqual([
      { began: 0, ended: 3 * minute, missed: 2 },
    ])
  })

  test('each part counts by what was expected in it, and nothing is missed while it was switched off', () => {
    const expected = [...everyMinute, { from: 10 * minute, every: null }, { from: 20 * minute, every: 10 }]
    expect(between(21 * minute, expected)).toEqual([
      { began: 0, ended: 10 * minute, missed: 9 },
      { began: 10 * minute, ended: 20 * minute, missed: 0 },
      { began: 20 * minute, ended: 21 * minute, missed: 5 },
    ])
  })
})
