import { afterEach, describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { DURATION, durationOf, INSTANT, instantOf } from '../../src/base/text/instants.ts'
import { durationFlag, instantFlag } from '../../src/cli/options.ts'
import { commands } from '../../src/cli/program.ts'

/** What a flag takes in each command that has it, older names left out: its value, and whether it is given once. */
const forms = new Map<string, Map<string, string[]>>()
for (const one of commands.flatMap((command) =>
  'commands' in command
    ? command.commands.map((part) => ({ ...part, name: `${command.usage} ${part.usage.split(' ')[0]}` }))
    : [{ ...command, name: command.usage.split(' ')[0] ?? '' }],
))
  for (const { flags, long, hidden } of one.options ?? []) {
    if (!long || hidden) continue
    const own = forms.get(long) ?? new Map<string, string[]>()
    forms.set(long, own.set(flags, [...(own.get(flags) ?? []), one.name]))
  }

test('a flag takes the same kind of value in every command', () => {
  const several = [...forms].filter(([, own]) => own.size > 1).map(([flag, own]) => [flag, [...own.keys()].sort()])
  // The public contract has both; a number of rows, keys or runs is a number.
  expect(several.sort()).toEqual([
    ['--from', ['--from <folder>', '--from <instant>']],
    ['--guild', ['--guild <guild>', '--guild <name>']],
    ['--limit', ['--limit <keys>', '--limit <rows>', '--limit <runs>']],
    ['--to', ['--to <instant>', '--to <place>']],
  ])
})

test('--group, --since and --keep have one meaning each, and --limit says what 0 is', () => {
  const homes = (flag: string) => [...(forms.get(flag)?.values() ?? [])].flat()
  expect(homes('--group')).toEqual(['privacy purge'])
  expect(homes('--since')).toEqual(['runs list'])
  expect(homes('--keep')).toEqual(['replay'])
  const limits = commands
    .flatMap((command) => ('commands' in command ? command.commands : [command]))
    .flatMap(({ options = [] }) => options.filter(({ long }) => long === '--limit'))
  expect(limits.length).toBeGreaterThanOrEqual(5)
  for (const { description } of limits) expect(description).toContain('0 for all')
})

test('what destroys has both --yes and --dry-run', () => {
  for (const name of ['privacy purge', 'watch remove', 'web-key remove', 'move', 'replay', 'lake export', 'init'])
    for (const flag of ['--yes', '--dry-run']) expect([...(forms.get(flag)?.values() ?? [])].flat()).toContain(name)
})

describe('instants and lengths of time', () => {
  const zone = process.env.TZ
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
  const now = Date.parse('2026-06-03T10:20:30Z')

  test.each([
    ['2026-05-01', '2026-05-01T00:00:00.000Z'],
    ['2026-05-01T08:00', '2026-05-01T08:00:00.000Z'],
    ['2026-05-01 08:00:05.25Z', '2026-05-01T08:00:05.250Z'],
    ['2026-05-01T08:00+02', '2026-05-01T06:00:00.000Z'],
    ['2026-05-01T08:00-0330', '2026-05-01T11:30:00.000Z'],
    ['now', '2026-06-03T10:20:30.000Z'],
    ['yesterday', '2026-06-02T00:00:00.000Z'],
    ['-90m', '2026-06-03T08:50:30.000Z'],
    ['-2w', '2026-05-20T10:20:30.000Z'],
  ])('%s is %s, in every time zone of the machine', (text, expected) => {
    process.env.TZ = 'America/New_York'
    expect(instantOf(text, now)?.toISOString()).toBe(expected)
  })

  test.each([
    '',
    'soon',
    '2026-06-31',
    '2026-13-01',
    '05/01/2026',
    '2026-05-01T25:00Z',
    '0000-01-01',
    '1e9',
    '-7 parsecs',
  ])('%j is no instant', (text) => expect(instantOf(text, now)).toBeUndefined())

  test('a length of time is written short or in words, and nothing else is one', () => {
    const written = ['90s', '15m', '24h', '7d', '2w', '1 hour', '2 days', '5min'].map(durationOf)
    expect(written.map((ms) => ms && ms / 60_000)).toEqual([1.5, 15, 1440, 10_080, 20_160, 60, 2880, 5])
    for (const text of ['', '5', '-5m', '1.5h', '3 moons']) expect([text, durationOf(text)]).toEqual([text, undefined])
  })

  test('the same words say what is wrong with every flag', () => {
    const app = { clock: virtualClock(now) }
    expect(() => instantFlag('--from', 'soon', app)).toThrow(`--from must be ${INSTANT}, got soon`)
    expect(() => durationFlag('--collect', 'long')).toThrow(`--collect must be ${DURATION}, got long`)
    expect(durationFlag('--keep-replaced', '0')).toBe(0)
  })
})
