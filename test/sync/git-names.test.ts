import { expect, test } from 'vitest'
import { namedPath } from '../../src/sync/backfill/git-globs.ts'

test.each([
  ['2026-05-01T12-00-00Z.json', '2026-05-01T12:00:00Z'],
  ['2026-05-01T12-00-00+0200.json', '2026-05-01T10:00:00Z'],
  ['map/2026-05-01 12:00:00+02:00.json', '2026-05-01T10:00:00Z'],
  ['2026-05-01T12-00-00.250+05-30.json', '2026-05-01T06:30:00Z'],
  ['2026-05-01T22-00-00-0500.json', '2026-05-02T03:00:00Z'],
  ['2026-05-01T22:00-05:00.json', '2026-05-02T03:00:00Z'],
  ['20260501T220000-0500.json', '2026-05-02T03:00:00Z'],
  ['20260501T1200Z.json', '2026-05-01T12:00:00Z'],
  ['20260501_1200+02.json', '2026-05-01T10:00:00Z'],
  // From half past six to seven.
  ['20260501-0630-0700.json', '2026-05-01T06:30:00Z'],
  ['2026-05-01-0500.json', '2026-05-01T05:00:00Z'],
  ['2026-05-01-3.json', '2026-05-01T00:00:00Z'],
])('%s is of %s', (path, instant) => {
  const { time } = namedPath(path)
  expect(time && new Date(time.from).toISOString()).toBe(new Date(instant).toISOString())
})

test.each([
  ['31-05-2026-03-12.json', '.json'],
  ['31-05-2026/03.json', '/03.json'],
  ['31_05_2026_03.json', '_03.json'],
  ['map 05.31.2026.03.12.json', 'map .03.12.json'],
  ['days/05/31/2026/03.json', 'days//03.json'],
  ['boards/guildLevel_31-05-2026.json', 'boards/guildLevel_.json'],
])('%s begins with a day or month, and what follows its year is no month', (path, rest) => {
  expect(namedPath(path)).toEqual({ own: path, glob: path, rest })
})

test.each(['v1.2_2026-05-01.json', '05/31/2026-05-01.json', '1.10.2026-05-01.json', '2026-05-01/31-04-2026.json'])(
  '%s has other numbers before its date',
  (path) => {
    expect(namedPath(path).time?.from).toBe(Date.UTC(2026, 4, 1))
  },
)

test('files of summer and winter are one series', () => {
  const [winter, summer] = ['2026-01-01T00-00-00+0100', '2026-07-01T00-00-00+0200'].map(
    (name) => namedPath(`a/${name}.json`).glob,
  )
  expect(winter).toBe('a/????-??-??T??-??-??+????.json')
  expect(summer).toBe(winter)
})
