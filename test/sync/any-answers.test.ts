import { array, assert, asyncProperty, boolean, constantFrom, dictionary, record } from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { effort } from '../support/effort.ts'
import { kindsOfLongTests, testDatabase } from '../support/postgres.ts'
import { seedsOf } from '../support/seeds.ts'
import { emptyTables, incomplete, instantOf, item, openWorld, timeOf, type World } from '../support/world.ts'

/** One answer of the API: the level of each item in it, and how many minutes it lies after the one before, or before it. */
interface Told {
  readonly levels: Readonly<Record<string, number>>
  readonly complete: boolean
  readonly minutes: number
}

/** A record with this level cannot be understood. */
const broken = 0

const told = record({
  levels: dictionary(constantFrom('Ash', 'Elm', 'Oak'), constantFrom(1, 1, 2, 2, 3, broken), { maxKeys: 3 }),
  complete: boolean().chain((one) => (one ? constantFrom(true) : boolean())),
  minutes: constantFrom(-30, -1, 0, 1, 30, 60, 60, 60),
})

interface Version {
  readonly key: string
  readonly level: number
  readonly from: number
  until: number
}

const hour = 60 * 60_000

/** Another copy of the same hour is not a second answer, by either clock. By that of this machine half of it is enough: polls do not come to the second. */
const isOther = (before: { readonly last: number; readonly received: number }, at: number, received: number) =>
  at - before.last >= hour && received - before.received >= hour / 2

/** What the tables should say, written from the rules and not from the program. */
function createModel() {
  const versions: Version[] = []
  const missed = new Map<string, { first: number; last: number; received: number; times: number }>()
  /** Keys whose record could not be read. */
  const unread = new Map<string, { first: number; last: number; received: number }>()
  /** The same once two answers agree, each with when that began and ended. */
  const spans: { readonly key: string; readonly from: number; until: number }[] = []
  /** That no record has a type that can be read, although nearly all had one: what follows from it is unknown. */
  const unsent: { claim?: { first: number; last: number; received: number }; isOpen: boolean; share?: number } = {
    isOpen: false,
  }
  let last: { at: number; text: string } | undefined

  function take({ levels, complete }: Told, at: number, received: number): 'taken' | 'not taken' {
    const names = Object.keys(levels).sort()
    const text = JSON.stringify([complete, ...names.map((name) => [name, levels[name]])])
    const repeated = last !== undefined && last.text === text && at >= last.at
    if (!repeated) {
      if (last !== undefined && at <= last.at) return 'not taken'
      if (names.length === 0) return 'not taken'
    }
    const isFirst = last === undefined
    const isNew = last === undefined || at > last.at
    last = { at, text }
    if (!isNew) return 'taken'
    countTypes(Object.values(levels), repeated, at, received)
    for (const key of names) {
      missed.delete(key)
      const level = levels[key] ?? broken
      const current = versions.find((one) => one.key === key && one.until === Infinity)
      if (level === broken || current?.level === level) continue
      if (current) current.until = at
      versions.push({ key, level, from: at, until: Infinity })
    }
    if (complete && !isFirst)
      for (const one of versions) if (one.until === Infinity && !names.includes(one.key)) miss(one, at, received)
    countUnread(levels, !complete && !isFirst, at, received)
    return 'taken'
  }

  function miss(version: Version, at: number, received: number): void {
    const before = missed.get(version.key)
    if (before === undefined) return void missed.set(version.key, { first: at, last: at, received, times: 1 })
    if (!isOther(before, at, received)) return
    version.until = before.first
    missed.delete(version.key)
  }

  /** What an answer shows, and what ended, is over; what it only lacks goes on, and counts where the answer is not whole. */
  function countUnread(levels: Told['levels'], mayLack: boolean, at: number, received: number): void {
    const isCurrent = (key: string) => versions.some((one) => one.key === key && one.until === Infinity)
    const isOver = (key: string) => !isCurrent(key) || (levels[key] ?? broken) !== broken
    for (const key of unread.keys()) if (isOver(key)) unread.delete(key)
    for (const span of spans) if (span.until === Infinity && isOver(span.key)) span.until = at
    const lacked = versions.flatMap(({ key, until }) => (until === Infinity && !(key in levels) ? [key] : []))
    const odd = lacked.map((key) => [key, broken] as const)
    for (const [key, level] of [...Object.entries(levels), ...(mayLack ? odd : [])]) {
      const isOpen = spans.some((span) => span.key === key && span.until === Infinity)
      if (level !== broken || !isCurrent(key) || isOpen) continue
      const claim = unread.get(key)
      if (claim === undefined) unread.set(key, { first: at, last: at, received })
      else if (isOther(claim, at, received)) {
        spans.push({ key, from: claim.first, until: Infinity })
        unread.delete(key)
      }
    }
  }

  function countTypes(levels: readonly number[], isSame: boolean, at: number, received: number): void {
    const share = levels.filter((level) => level !== broken).length / levels.length
    if (share === 0 && (unsent.share ?? 0) >= 0.9) {
      const { claim } = unsent
      if (claim === undefined && !unsent.isOpen) unsent.claim = { first: at, last: at, received }
      else if (claim && isOther(claim, at, received)) {
        unsent.isOpen = true
        delete unsent.claim
      }
      return
    }
    delete unsent.claim
    if (share > 0) unsent.isOpen = false
    if (!isSame && Math.abs(share - (unsent.share ?? -1)) > 0.02) unsent.share = share
  }

  return { take, versions, missed, unread, spans, unsent }
}

const text = (instant: number) => (instant === Infinity ? 'infinity' : timeOf(new Date(instant)))

const seeds = seedsOf(import.meta.filename)

describe.each(kindsOfLongTests)('any sequence of answers on the %s database', (kind) => {
  let world: World
  beforeAll(async () => {
    world = await openWorld(await testDatabase(kind))
    return async () => {
      await world.api.close()
      await world.sandbox.close()
    }
  })

  test.each(seeds)(
    'gives versions that never overlap, from which every answer can be rebuilt (seed %i)',
    async (seed) => {
      const property = asyncProperty(array(told, { minLength: 2, maxLength: 8 }), async (answers) => {
        await emptyTables(world.db)
        const model = createModel()
        const taken: { at: number; levels: Told['levels'] }[] = []
        let at = instantOf('12:00')
        for (const answer of answers) {
          at += answer.minutes * 60_000
          const records = Object.entries(answer.levels).map(([name, level]) =>
            item(name, { requirements: { level }, ...(level === broken ? { type: 7 } : {}) }),
          )
          const { status } = await world.sync(items, answer.complete ? records : incomplete(records), text(at), {
            plausibleShare: 0,
          })
          const expected = model.take(answer, at, world.clock.now())
          expect(['ok', 'unchanged', 'partial'].includes(status) ? 'taken' : 'not taken').toBe(expected)
          if (expected === 'taken') taken.push({ at, levels: answer.levels })
        }
        const versions = [...model.versions].sort((a, b) =>
          a.key === b.key ? a.from - b.from : a.key < b.key ? -1 : 1,
        )
        expect(
          await world.rows('select internal_name, level, valid_from, valid_until from game.item order by 1, 3'),
        ).toEqual(versions.map(({ key, level, from, until }) => [key, level, text(from), text(until)]))
        expect(
          await world.rows(
            `select subject, first_at, times from sync.claim where kind not in ('unsent', 'unread') order by 1`,
          ),
        ).toEqual([...model.missed].sort().map(([key, { first, times }]) => [key, text(first), times]))
        expect(await world.rows(`select subject, first_at from sync.claim where kind = 'unread' order by 1`)).toEqual(
          [...model.unread].sort().map(([key, { first }]) => [key, text(first)]),
        )
        expect(
          await world.rows(`select key, from_at, coalesce(until_at, 'infinity') from sync.unread order by 1, 2`),
        ).toEqual(
          model.spans
            .toSorted((a, b) => (a.key === b.key ? a.from - b.from : a.key < b.key ? -1 : 1))
            .map(({ key, from, until }) => [key, text(from), text(until)]),
        )
        const { claim, isOpen } = model.unsent
        expect(await world.rows(`select subject, first_at, times from sync.claim where kind = 'unsent'`)).toEqual(
          claim ? [['/type', text(claim.first), 1]] : [],
        )
        expect(await world.rows('select field from sync.unsent where until_at is null')).toEqual(
          isOpen ? [['/type']] : [],
        )
        expect(await world.rows(overlaps)).toEqual([])
        for (const answer of taken) expect(await levelsAt(answer.at)).toMatchObject(readable(answer.levels))
        const [[living] = []] = await world.rows(
          'select living from sync.run where living is not null order by observed_at desc, started_at desc limit 1',
        )
        if (living !== undefined) expect(living).toBe(versions.filter(({ until }) => until === Infinity).length)
      })
      await assert(property, { numRuns: effort.everyAnswer ? 60 : 30, seed })
    },
  )

  const overlaps = `select a.internal_name from game.item a join game.item b on a.internal_name = b.internal_name
                      and a.valid_from < b.valid_from and b.valid_from < a.valid_until`

  async function levelsAt(at: number): Promise<Record<string, unknown>> {
    const rows = await world.db.query<{ key: string; level: string }>(
      `select key, analytics.item_at(key, $1) #> '{requirements,level}' as level
         from (select distinct internal_name as key from game.item) known`,
      [new Date(at)],
    )
    return Object.fromEntries(rows.map(({ key, level }) => [key, level]))
  }
})

function readable(levels: Told['levels']): Record<string, number> {
  return Object.fromEntries(Object.entries(levels).filter(([, level]) => level !== broken))
}
