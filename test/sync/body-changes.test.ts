import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { openRecordedResponses } from '../../src/api/recordings/recorded.ts'
import { seededRandom } from '../../src/base/clock.ts'
import { items } from '../../src/resources/items/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { expireRaw } from '../../src/sync/archive/archive-retention.ts'
import { changedBody, changesOf, STORED_BODY, type StoredBody, textOfBody } from '../../src/sync/archive/bodies.ts'
import { loadRecorded } from '../../src/sync/backfill/backfill-recorded.ts'
import type { Resource } from '../../src/sync/declare/resource.ts'
import { replay } from '../../src/sync/replay/replay.ts'
import { engineOn } from '../support/archive.ts'
import { onlineBody } from '../support/player-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { wrongRows } from '../support/verified.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

const random = seededRandom(7)
const records = Array.from({ length: 2000 }, (_, nth) => ({
  name: `item ${nth}`,
  lore: Array.from({ length: 12 }, () => Math.floor(random() * 1e9)).join(' '),
}))
const bytesOf = (list: readonly object[]) => Buffer.from(JSON.stringify(list))
const base = bytesOf(records)

test('changes make a body again, whatever came, went, moved or is another', () => {
  for (let round = 0; round < 60; round++) {
    const list: object[] = [...records]
    for (let count = 1 + Math.floor(random() * 20); count > 0; count--) {
      const at = Math.floor(random() * list.length)
      const other = { ...list[at], lore: `${round} ${'x'.repeat(random() * 300)}` }
      if (random() < 0.3) list.splice(at, 1)
      else if (random() < 0.5) list.splice(at, 0, other)
      else list[at] = other
    }
    if (round % 20 === 0) list.unshift(...list.splice(1500, 3))
    const body = bytesOf(list)
    const changes = changesOf(base, body)
    expect(changes?.length).toBeLessThan(body.length / 10)
    expect(changedBody(base, changes as Buffer).equals(body)).toBe(true)
  }
})

test('changes of an equal body, and of one that was cut or goes on, make it again', () => {
  const half = base.subarray(0, base.length >> 1)
  const longer = Buffer.concat([base, Buffer.from('of its own')])
  for (const [from, body] of [
    [base, base],
    [base, half],
    [base, longer],
    [longer, base],
  ] as const)
    expect(changedBody(from, changesOf(from, body) as Buffer).equals(body)).toBe(true)
})

test('a body that is mostly another one, or short, has no changes', () => {
  expect(changesOf(base, randomBytes(base.length))).toBeUndefined()
  expect(changesOf(base, bytesOf(records.map((one) => ({ ...one, name: 'another' }))))).toBeUndefined()
  expect(changesOf(base, Buffer.from('[]'))).toBeUndefined()
  expect(changesOf(Buffer.alloc(0), base)).toBeUndefined()
})

test('changes of another body are no body', () => {
  const changes = changesOf(base, bytesOf(records.slice(1))) as Buffer
  expect(() => changedBody(base.subarray(0, 1000), changes)).toThrow(RangeError)
  expect(() => changedBody(base, changes.subarray(0, 10))).toThrow(RangeError)
})

describe.each(kindsAtNight)('versions of a long list in the archive, on the %s database', (kind) => {
  const world = worldOf(kind)
  const versions = Array.from({ length: 6 }, (_, version) =>
    records.slice(0, 900).map(({ name, lore }, nth) => item(name, { lore: nth % 300 < version ? `${version}` : lore })),
  )
  const short = [item('item 1')]

  async function load(bodies: readonly unknown[], resource: Resource = items, path = '/item/database?fullResult') {
    const lines = bodies.map((body, nth) => ({ at: `${10 + nth}:00`, path, body }))
    await world.clock.advanceTo(instantOf('23:50'))
    const recorded = openRecordedResponses(await recordingFolder(lines))
    return await loadRecorded(recorded, engineOn(world, world.db, true), { resources: [resource] })
  }
  const stored = () =>
    world.db.query<StoredBody & { isWhole: boolean }>(
      `select raw_body.base is null as "isWhole", ${STORED_BODY.columns}
         from sync.raw_body ${STORED_BODY.join} order by raw_body.first_at`,
    )
  const texts = async () => await Promise.all((await stored()).map(async (one) => (await textOfBody(one)).toString()))

  test('are the first one and changes of it, which a replay reads, and which verify finds whole', async () => {
    await load(versions)
    expect((await stored()).map(({ isWhole }) => isWhole)).toEqual([true, false, false, false, false, false])
    expect(await texts()).toEqual(versions.map((one) => JSON.stringify(one)))
    expect(await wrongRows(world.db)).toEqual([])
    const { tables, lost } = await replay(engineOn(world, world.db, false), { resources: [items], swap: true })
    expect([lost, tables.filter((one) => one.onlyBefore + one.onlyAfter > 0)]).toEqual([[], []])
  })

  test('stay while another one needs them, and go with the last one that does', async () => {
    await load(versions)
    const expire = (at: string) => expireRaw(world.db, { days: { items: 0 }, now: instantOf(at) })
    await expire('12:30')
    expect((await texts()).length).toBe(4)
    expect(await wrongRows(world.db)).toEqual([])
    await expire('23:00')
    expect(await stored()).toEqual([])
  })

  test('are whole again after what they differ from is not in the archive', async () => {
    // It is a stale response, which is not archived.
    await world.sync(items, versions[0] ?? [], '10:30')
    await load(versions)
    // One is compressed already while the one before is loaded.
    expect((await stored()).map(({ isWhole }) => isWhole)).toEqual([true, true, false, false, false])
    expect(await texts()).toEqual(versions.slice(1).map((one) => JSON.stringify(one)))
  })

  test('whose base is missing or another one are found by verify', async () => {
    await load([...versions.slice(0, 2), short])
    const [base] = await stored()
    await world.db.query('delete from sync.raw_body where hash = $1', [base?.hash ?? null])
    expect(await wrongRows(world.db)).toContainEqual(['archive body sync.raw_body', 1, expect.anything()])
  })

  test('stand alone where they are about people: what is erased from one is in no other', async () => {
    const players = Array.from({ length: 3000 }, (_, nth) => nth)
    await load(
      [onlineBody({ EU1: players }), onlineBody({ EU1: players.slice(1) })],
      onlinePlayers,
      '/player?identifier=uuid',
    )
    expect((await stored()).map(({ isWhole }) => isWhole)).toEqual([true, true])
  })
})
