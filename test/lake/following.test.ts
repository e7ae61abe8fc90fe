import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { resources } from '../../src/resources/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { retractResource } from '../../src/sync/retract/retract.ts'
import { forgetSource } from '../../src/sync/retract/sources.ts'
import { effort } from '../support/effort.ts'
import { capturesByHand, capturesIn, changesByHand, changesIn } from '../support/following.ts'
import { place } from '../support/guild-answers.ts'
import { different, linesOf } from '../support/lake-folder.ts'
import { bothKinds, temporaryFolder } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'
import { instantOf, type World, worldOf } from '../support/world.ts'

const seeds = effort.everyAnswer ? Array.from({ length: 20 }, (_, nth) => nth + 1) : [1, 2, 3]
/** `nth` times ten minutes after 08:00. */
const timeOf = (nth: number, later = 0) => new Date((480 + nth * 10 + later) * 60_000).toISOString().slice(11, 16)
const material = (name: string, level: number, more: object = {}) => ({
  internalName: name,
  type: 'material',
  requirements: { level },
  identifications: { damage: { min: level, raw: level, max: level + 1 } },
  ...more,
})
const loose = { absences: 1, plausibleShare: 0 }

describe.each(bothKinds)('on %s, what follows from versions', (kind) => {
  const ours = worldOf(kind)
  const theirs = worldOf('server')
  const others = worldOf('server')
  const folders = new Map<World, string>()

  beforeEach(async () => {
    folders.clear()
    for (const world of [ours, theirs, others])
      for (const { name } of [territories, items])
        await setExpectedInterval(world.db, {
          resource: name,
          everySeconds: 600,
          setBy: 'start',
          at: new Date(instantOf('07:00')),
        })
  })

  async function publish(from: World): Promise<string> {
    const folder = folders.get(from) ?? join(await temporaryFolder(), 'lake')
    folders.set(from, folder)
    const options = { clock: from.clock, program: 'test', people: true, keepMs: 0, onProgress: () => {} }
    await exportLake(from.db, folder, options)
    return folder
  }

  async function take(from: World, signal?: AbortSignal, onProgress: () => void = () => {}): Promise<void> {
    if (ours.clock.now() < from.clock.now()) await ours.clock.advanceTo(from.clock.now())
    const options = { clock: ours.clock, maxBytes: 1e9, onProgress, ...(signal ? { signal } : {}) }
    const done = await importLake(ours.db, openPlace(folders.get(from) ?? ''), options)
    expect(done.refused).toEqual([])
  }

  async function retract(sourceId: unknown): Promise<void> {
    for (const resource of resources)
      await ours.db.transaction((sql) => retractResource(sql, resource, { sourceId: String(sourceId), isLake: true }))
    await forgetSource(ours.db, String(sourceId))
  }

  /** Captures and changes are those that the versions say, no more and no less, and `verify` finds nothing. */
  async function expectFollowing(when: string): Promise<void> {
    const { db } = ours
    expect([when, different(await capturesIn(db), await capturesByHand(db))]).toEqual([when, [[], []]])
    expect([
      when,
      different(await changesIn(db, 'items'), await changesByHand(db, 'game.item', 'internal_name')),
    ]).toEqual([when, [[], []]])
    expect([when, await wrongRows(db)]).toEqual([when, []])
  }

  const levels = () =>
    ours.rows(`select changed_at, path, old_value, new_value, is_revert from game.field_change
                                   where path = '/requirements/level' and key = 'Ash' order by 1`)
  const captures = () =>
    ours.rows('select captured_at, from_guild_name, to_guild_name, observed_at from game.territory_capture order by 1')

  test('is between an own version and an imported one what they say', async () => {
    await ours.sync(items, [material('Ash', 1), material('Fir', 1)], '08:00')
    await ours.sync(territories, { Oak: place('a', '07:00') }, '08:00')
    await theirs.sync(items, [material('Ash', 5), material('Fir', 1)], '08:30')
    await theirs.sync(territories, { Oak: place('b', '08:20') }, '08:30')
    await ours.sync(items, [material('Ash', 1), material('Fir', 2)], '09:00')
    await ours.sync(territories, { Oak: place('c', '08:50') }, '09:00')
    expect(await levels()).toEqual([])
    expect(await captures()).toEqual([['08:50', 'Guild a', 'Guild c', '09:00']])
    await publish(theirs)
    await take(theirs)
    expect(await levels()).toEqual([
      ['08:30', '/requirements/level', 1, 5, false],
      ['09:00', '/requirements/level', 5, 1, true],
    ])
    expect(await captures()).toEqual([
      ['08:20', 'Guild a', 'Guild b', '08:30'],
      ['08:50', 'Guild b', 'Guild c', '09:00'],
    ])
    await expectFollowing('imported')
    const [[source] = []] = await ours.rows('select source_id from sync.source')
    await retract(source)
    expect(await levels()).toEqual([])
    expect(await captures()).toEqual([['08:50', 'Guild a', 'Guild c', '09:00']])
    await expectFollowing('retracted')
  })

  test('begins earlier where a lake does, and later again without it', async () => {
    await ours.sync(items, [material('Ash', 1), material('Fir', 1)], '09:00')
    await ours.sync(territories, { Oak: place('a', '08:50') }, '09:00')
    await theirs.sync(items, [material('Ash', 1)], '08:00')
    await theirs.sync(territories, { Oak: place('b', '07:00') }, '08:00')
    const appeared = () => ours.rows(`select key, changed_at from game.field_change where path = ''`)
    await publish(theirs)
    await take(theirs)
    expect(await appeared()).toEqual([['Fir', '09:00']])
    expect(await captures()).toEqual([['08:50', 'Guild b', 'Guild a', '09:00']])
    await expectFollowing('imported')
    const [[source] = []] = await ours.rows('select source_id from sync.source')
    await retract(source)
    expect([await appeared(), await captures()]).toEqual([[], []])
    await expectFollowing('retracted')
  })

  test('is what is left shows after a retraction, also a capture that a retracted response had denied', async () => {
    const since = (letter: string, at: string) => ({ Oak: place(letter, at) })
    await ours.sync(territories, since('a', '07:00'), '08:00')
    await ours.sync(territories, since('b', '08:05'), '08:10')
    await ours.sync(territories, since('b', '08:05'), '08:20')
    await expectFollowing('before')
    // Without the response of 08:00 there is no hold before; without that of 08:10 the next one shows the capture.
    const period = { from: new Date(instantOf('08:10')), to: new Date(instantOf('08:11')) }
    await ours.db.transaction((sql) => retractResource(sql, territories, period))
    expect(await captures()).toEqual([['08:05', 'Guild a', 'Guild b', '08:20']])
    await expectFollowing('retracted')
  })

  test('is written once a lake withdraws what stood between', async () => {
    await ours.sync(territories, { Oak: place('a', '07:00') }, '08:00')
    await ours.sync(territories, { Oak: place('b', '08:50') }, '09:00')
    await theirs.sync(territories, { Oak: place('b', '08:20') }, '08:30')
    await theirs.sync(territories, { Oak: place('c', '08:35') }, '08:40')
    await publish(theirs)
    await take(theirs)
    expect((await captures()).map(([at]) => at)).toEqual(['08:20', '08:35', '08:50'])
    await theirs.db.query(`delete from game.territory_hold where valid_from = '2026-06-01T08:35Z'`)
    await theirs.db.query(`update game.territory_hold set valid_until = 'infinity'`)
    await publish(theirs)
    await take(theirs)
    expect(await captures()).toEqual([
      ['08:20', 'Guild a', 'Guild b', '08:30'],
      ['08:50', 'Guild b', 'Guild b', '09:00'],
    ])
    await expectFollowing('followed')
  })

  test('is written by a first response that comes while an import is not done', async () => {
    await theirs.sync(items, [material('Ash', 1), material('Fir', 1)], '08:00')
    await publish(theirs)
    const stop = new AbortController()
    await expect(take(theirs, stop.signal, () => stop.abort())).rejects.toThrow()
    expect(await ours.rows(`select from sync.run where resource = 'items'`)).toEqual([])
    await ours.sync(items, [material('Ash', 2), material('Fir', 1), material('Yew', 1)], '09:00')
    expect(await levels()).toEqual([['09:00', '/requirements/level', 1, 2, false]])
    await expectFollowing('synced')
    await take(theirs)
    await expectFollowing('imported')
  })

  test('is no news: an import announces nothing', async () => {
    const news = { notifies: true }
    await ours.sync(territories, { Oak: place('a', '07:00') }, '08:00', news)
    await ours.sync(territories, { Oak: place('c', '08:50') }, '09:00', news)
    await theirs.sync(territories, { Oak: place('b', '08:20') }, '08:30')
    await publish(theirs)
    const before = await ours.rows('select number, change from sync.outbox')
    await take(theirs)
    expect(before.length).toBeGreaterThan(0)
    expect(await ours.rows('select number, change from sync.outbox')).toEqual(before)
    expect(await captures()).toHaveLength(2)
  })

  test.each(seeds)(
    'is the same as worked out by hand after imports and retractions of any histories (seed %i)',
    async (seed) => {
      const random = seededRandom(seed * 7919)
      const upTo = (count: number) => Math.floor(random() * count)
      const names = ['Ash', 'Elm', 'Fir', 'Oak', 'Yew']
      const length = 30
      /** Which of the instants a database observes: some stretches of them. */
      const stretches = () => {
        const seen = new Set<number>()
        for (let n = 0; n < 3; n++) for (let at = upTo(length), left = 1 + upTo(8); left > 0; left--) seen.add(at++)
        return seen
      }
      const watches = new Map<World, Set<number>>([theirs, others, ours].map((world) => [world, stretches()]))
      const level = new Map(names.map((name) => [name, 1]))
      const owner = new Map(names.map((name) => [name, ['a', '07:00'] as [string | null, string]]))
      const gone = new Set<string>()
      const play = async (nth: number, who: readonly World[]) => {
        for (const name of names) {
          if (random() < 0.3) level.set(name, 1 + upTo(3))
          if (random() < 0.4)
            owner.set(name, random() < 0.1 ? [null, ''] : ['abc'.charAt(upTo(3)), timeOf(nth, -1 - upTo(9))])
          if (random() < 0.1 && !gone.delete(name)) gone.add(name)
        }
        const left = names.filter((name) => !gone.has(name))
        const shown = left.length > 1 ? left : names
        const body = shown.map((name) => material(name, level.get(name) ?? 1))
        const map = Object.fromEntries(
          shown.map((name) => {
            const [guild, since] = owner.get(name) ?? ['a', '07:00']
            return [name, guild === null ? place(null, null) : place(guild, since)]
          }),
        )
        for (const world of who) {
          if (!watches.get(world)?.has(nth)) continue
          // Some responses are of somebody else's game.
          const isOther = random() < 0.1
          const at = timeOf(nth, world === ours ? 0 : 1 + upTo(3))
          await world.sync(items, isOther ? [material('Ash', 7), material('Fir', 8)] : body, at, loose)
          await world.sync(
            territories,
            isOther ? { Oak: place('x', '07:30'), Elm: place('x', '07:30') } : map,
            at,
            loose,
          )
        }
      }
      for (let nth = 0; nth < length; nth++) await play(nth, [ours, theirs, others])
      await ours.clock.advanceTo(instantOf(timeOf(length)))
      const tables = [
        'game.item',
        'game.territory_hold',
        'game.territory_capture',
        'game.field_change',
        'sync.run',
        'sync.gap',
      ]
      const content = async () =>
        new Map(await Promise.all(tables.map(async (one) => [one, await linesOf(ours.db, one)] as const)))
      await expectFollowing('before')
      const before = await content()
      const sources: unknown[] = []
      for (const from of random() < 0.5 ? [theirs, others] : [others, theirs]) {
        await publish(from)
        // Interrupted after some step, and called again.
        const stop = new AbortController()
        let steps = upTo(6)
        await take(from, stop.signal, () => (steps-- > 0 ? undefined : stop.abort())).catch((error: unknown) => {
          if (!stop.signal.aborted) throw error
        })
        await expectFollowing('interrupted')
        await take(from)
        await expectFollowing('imported')
        for (const [one] of await ours.rows('select source_id from sync.source'))
          if (!sources.includes(one)) sources.push(one)
      }
      for (const source of sources.toReversed()) {
        await retract(source)
        await expectFollowing('retracted')
      }
      expect(before.size).toBeGreaterThan(0)
      for (const [table, lines] of await content())
        expect([table, different(lines, before.get(table) ?? [])]).toEqual([table, [[], []]])
    },
  )
})
