import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { readHolds } from '../../src/drawing/map/holds.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildId, place } from '../support/guild-answers.ts'
import { instantOf, worldOf } from '../support/world.ts'

const world = worldOf('server')
const names = ['Ragni', 'Detlas', 'Almuj']
/** The nth response, five minutes after the one before. */
const time = (nth: number) => `${10 + Math.floor(nth / 12)}:${String((nth % 12) * 5).padStart(2, '0')}`

test('every hold of a period is there once, also those that begin or last in its middle', async () => {
  const random = seededRandom(4)
  const held = new Map<string, [letter: string, since: string]>(names.map((name) => [name, ['a', '09:00']]))
  /** Who holds what from when on, as the responses show it. */
  const shown: { name: string; letter: string; since: number }[] = []
  for (let nth = 0; nth < 48; nth++) {
    // Every third time the hold begins exactly at the response; one of Ragni begins in the middle of each period below.
    for (const name of names)
      if (random() < 0.3 || (name === 'Ragni' && nth === 24)) {
        const letter = held.get(name)?.[0] === 'b' ? 'c' : 'b'
        held.set(name, [letter, time(nth)])
      }
    const body = Object.fromEntries([...held].map(([name, [letter, since]]) => [name, place(letter, since)]))
    await world.sync(territories, body, time(nth))
    for (const [name, [letter, since]] of held)
      if (!shown.some((one) => one.name === name && one.since === instantOf(since)))
        shown.push({ name, letter, since: instantOf(since) })
  }
  for (const [from, to] of [
    ['08:00', '16:00'],
    ['10:00', '14:00'],
    ['11:30', '12:30'],
    ['11:31', '12:29'],
  ] as const) {
    const period = { from: new Date(instantOf(from)), to: new Date(instantOf(to)) }
    const holds = await readHolds(world.db, period)
    for (const name of names) {
      const own = shown.filter((one) => one.name === name).sort((a, b) => a.since - b.since)
      const within = own.filter(
        ({ since }, nth) =>
          since < period.to.getTime() && (own[nth + 1]?.since ?? Number.POSITIVE_INFINITY) > period.from.getTime(),
      )
      expect([name, from, holds.amounts.get(name)]).toEqual([name, from, within.length])
      const found: (string | null)[] = holds.steps.map(() => null)
      let times = 0
      holds.over(holds.steps)(name, (began, ended, guild) => {
        for (let step = began; step < ended; step++) {
          times += 1
          found[step] = guild
        }
      })
      const expected = holds.steps.map((at) => own.findLast(({ since }) => since <= at.getTime()))
      expect(found).toEqual(expected.map((one) => (one ? guildId(one.letter) : null)))
      expect(times).toBe(found.filter((guild) => guild !== null).length)
    }
  }
})

test('a capture between the two statements leaves no moment with two holders', async () => {
  const others = { Detlas: place('b', '09:00'), Almuj: place('b', '09:00') }
  await world.sync(territories, { ...others, Ragni: place('a', '09:00') }, '10:00')
  let first: Promise<unknown> | undefined
  const query: typeof world.db.query = async (text, params) => {
    if (!text.includes('territory_held_between')) return await world.db.query(text, params)
    if (first === undefined) {
      const rows = world.db.query(text, params)
      first = rows
      return (await rows) as never
    }
    await first
    await world.sync(territories, { ...others, Ragni: place('b', '12:59') }, '13:00')
    return await world.db.query(text, params)
  }
  const period = { from: new Date(instantOf('08:00')), to: new Date(instantOf('14:00')) }
  const holds = await readHolds({ ...world.db, query }, period)
  const holders = holds.steps.map((): string[] => [])
  holds.over(holds.steps)('Ragni', (began, ended, guild) => {
    for (let step = began; step < ended; step++) holders[step]?.push(guild)
  })
  expect(holders.filter((all) => all.length > 1)).toEqual([])
  expect([holders[30], holders.at(-1)]).toEqual([[guildId('a')], [guildId('b')]])
})
