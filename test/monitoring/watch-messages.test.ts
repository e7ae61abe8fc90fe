import { expect, test } from 'vitest'
import type { Occurrence } from '../../src/monitoring/watches/event-queries.ts'
import { bodyOf } from '../../src/monitoring/watches/send.ts'
import { parseWatches, watchEvents } from '../../src/monitoring/watches/watch.ts'

const usual = { name: 'mine', events: ['captured'], target: { type: 'slack', url: 'https://chat.example/secret' } }

/** What is wrong with a file of one watch that differs from the usual one. */
function problemsOf(more: object): string[] {
  try {
    parseWatches('the file', JSON.parse(JSON.stringify({ watches: [{ ...usual, ...more }] })))
    return []
  } catch (error) {
    return String(error)
      .split('\n')
      .slice(1)
      .map((line) => line.trim())
  }
}

test('a file that cannot be used names each place, what it must be and what it is, and no secret', () => {
  for (const [more, problem] of [
    [{ quiet: '25:00-07:00' }, 'watches.0.quiet must be like 22:00-07:00, got 25:00-07:00'],
    [{ quiet: '22:00-07:00 Nowhere/Land' }, 'watches.0.quiet must be like 22:00-07:00, got 22:00-07:00 Nowhere/Land'],
    [{ events: [] }, 'watches.0.events must not be empty'],
    [{ name: 'a b' }, 'watches.0.name must have letters, digits, `_`, `-` and `.` only, got a b'],
    [{ groupSeconds: 5000 }, 'watches.0.groupSeconds must be at most 3600, got 5000'],
    [{ groupSeconds: 1.5 }, 'watches.0.groupSeconds must be a whole number, got 1.5'],
    [{ atLeast: { events: 3, minutes: 0 } }, 'watches.0.atLeast.minutes must be at least 1, got 0'],
    [{ guild: 'ABC' }, 'watches.0.guild must be an array, got ABC'],
    [{ guild: 'https://chat.example/secret' }, 'watches.0.guild must be an array'],
    [{ colour: 1 }, 'watches.0 has unknown fields: colour'],
    [{ target: { type: 'pigeon' } }, 'watches.0.target.type must be one of discord, slack, webhook, command'],
    [{ target: { type: 'slack', url: 'secret' } }, 'watches.0.target.url must be a URL of http or https'],
    [{ target: 'https://chat.example/secret' }, 'watches.0.target must be an object'],
    [{ target: undefined }, 'watches.0.target is missing'],
  ] as const)
    expect(problemsOf(more)).toEqual([problem])
  expect(problemsOf({ events: ['dance'] })).toEqual([
    expect.stringMatching(/^watches\.0\.events\.0 must be one of captured, .*, got dance$/),
  ])
  expect(() => parseWatches('the file', { watches: [usual, usual] })).toThrow(
    /\n {2}watches must not have the same name twice$/,
  )
})

test('a message to Discord stays within the limits of its embeds, whatever the watch and the things are called', () => {
  const occurrence = (nth: number, text: string, path: string): Occurrence => {
    const event = watchEvents[nth % watchEvents.length] ?? 'news'
    const detail = { guildName: text, total: text, map: path }
    return { event, number: nth, writtenAt: new Date(0), at: new Date(0), text, path, detail }
  }
  const longs = ['\u202e', '\u{1f600}', '_', 'x'].map((letter) => letter.repeat(1000))
  const sites = [undefined, 'https://example.org', `https://example.org/${'x'.repeat(3000)}`]
  for (const site of sites)
    for (const count of [1, 30])
      for (const long of longs) {
        const path = `/items/${encodeURIComponent(long)}`
        const occurrences = Array.from({ length: count }, (_, nth) => occurrence(nth, `a${long}`, path))
        const body = bodyOf('discord', { id: 'msg', watch: 'x'.repeat(200), occurrences, site })
        const [embed] = JSON.parse(body).embeds
        expect(embed.title.length).toBeLessThanOrEqual(256)
        expect(embed.description.length).toBeLessThanOrEqual(4096)
        expect(embed.description).toMatch(/\n|^\[?a/)
        expect(JSON.stringify(embed).length).toBeLessThanOrEqual(2048 * 2 + 6000)
        expect(embed.url?.length ?? 0).toBeLessThanOrEqual(2048)
        // No half of a character, which Discord refuses.
        expect(body).not.toMatch(/\\ud[89ab]/)
      }
})

test('a message to Discord about one item or patch has its picture, and one about several has none', () => {
  const of = (path: string): Occurrence => ({
    event: 'item changed',
    number: 1,
    writtenAt: new Date(0),
    at: new Date(0),
    text: 'bow: 1 changed',
    path,
  })
  const pictureOf = (...paths: readonly string[]) => {
    const message = { id: 'msg', watch: 'w', occurrences: paths.map(of), site: 'https://example.org' }
    return JSON.parse(bodyOf('discord', message)).embeds[0].thumbnail?.url
  }
  expect(pictureOf('/items/bow')).toBe('https://example.org/og/items/bow.png')
  expect(pictureOf('/patches/3')).toBe('https://example.org/og/patches/3.png')
  for (const paths of [['/items/bow', '/items/axe'], ['/players/x'], ['/worlds']])
    expect([paths, pictureOf(...paths)]).toEqual([paths, undefined])
})
