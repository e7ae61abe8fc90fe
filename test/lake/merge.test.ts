import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { exportLake } from '../../src/lake/export.ts'
import { type Imported, importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { resourcesNamed } from '../../src/resources/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'
import { openWorld, type World } from '../support/world.ts'

const start = Date.parse('2026-06-01T12:00:00Z')
const step = 300_000
const steps = 36
const resources = resourcesNamed(['territories', 'guild-list', 'online-players'])

/** In which steps each of them observes: ours, theirs (a little later), and one who always does. */
const watches = {
  ours: (n: number) => n < 10 || (n >= 20 && n < 30),
  theirs: (n: number) => n >= 5 && n < 33 && !(n >= 15 && n < 18),
  always: () => true,
}
const observed = (n: number) => watches.ours(n) || watches.theirs(n)

describe('what two databases recorded, in one', () => {
  let ours: Database
  let truth: Database
  let done: Imported
  beforeAll(async () => {
    ours = await testDatabase('server')
    truth = await testDatabase('server')
    const theirs = await testDatabase('server')
    const world = await openWorld(truth, { game: {}, seed: 5, dialect: 'live' }, start)
    for (const db of [ours, theirs, truth])
      for (const { name } of resources)
        await setExpectedInterval(db, {
          resource: name,
          everySeconds: step / 1000,
          setBy: 'start',
          at: new Date(start),
        })
    for (let n = 0; n < steps; n++) {
      await world.clock.advanceTo(start + n * step)
      await observe(world, truth)
      if (watches.ours(n)) await observe(world, ours)
      if (watches.theirs(n)) await observe(world, theirs)
    }
    const folder = join(await temporaryFolder(), 'lake')
    const told = { clock: world.clock, onProgress: () => {} }
    await exportLake(theirs, folder, { ...told, program: 'test', people: true, keepMs: 0 })
    done = await importLake(ours, openPlace(folder), { ...told, maxBytes: 1e9 })
    await world.api.close()
    await world.sandbox.close()
  })

  test('what comes of it is whole', async () => {
    expect(await wrongRows(ours)).toEqual([])
  })

  test('nothing is refused, and there is no conflict between two who saw the same', () => {
    expect(done.refused).toEqual([])
    expect(done.tables.filter((one) => one.refused + one.conflicts > 0)).toEqual([])
  })

  test('every question about a time that one of them observed has the true answer', async () => {
    const wrong: unknown[] = []
    for (let n = 0; n < steps; n++) {
      if (!observed(n)) continue
      const at = new Date(start + n * step + 1000)
      for (const statement of statements) {
        const [here, there] = [await ours.values(statement, [at]), await truth.values(statement, [at])]
        const differ = different(here, there)
        // A world that only the last list of one database and the first of the other show is pending in both.
        const mayLack = /from game.world/.test(statement) && differ.here.length === 0 && differ.there.length === 1
        if (JSON.stringify(here) !== JSON.stringify(there) && !mayLack) wrong.push([n, statement.slice(0, 60), differ])
      }
    }
    expect(wrong).toEqual([])
  })

  test('the coverage is that of both', async () => {
    const gaps = await ours.query<{ resource: string; missed: number }>(
      `select resource, sum(missed)::int as missed from sync.gap where resource in ('territories', 'online-players') group by 1 order by 1`,
    )
    expect(gaps).toEqual(['online-players', 'territories'].map((resource) => ({ resource, missed: 3 })))
    const [seen] = await ours.query<{ observed: number }>(
      `select sum(observed)::int as observed from analytics.coverage('territories', $1, $2)`,
      [new Date(start - 3_600_000), new Date(start + steps * step)],
    )
    expect(seen?.observed).toBe(Array.from({ length: steps }, (_, n) => n).filter(observed).length)
    const spans = await ours.query('select began_at, ended_at from sync.source_span where resource = $1 order by 1', [
      'territories',
    ])
    expect(spans.length).toBe(3)
  })

  test('the coverage says how much of each hour the other one observed', async () => {
    const hours = `select hour, imported from analytics.coverage('territories', $1, $2)`
    const whole = [new Date(start - 3_600_000), new Date(start + steps * step)]
    const [row] = await ours.query<{ shown: number; kept: number; most: number }>(
      `select sum(imported)::float8 * 3600 as shown, max(imported)::float8 as most,
              (select sum(extract(epoch from ended_at - began_at))::float8 from sync.source_span where resource = 'territories') as kept
         from (${hours}) shares`,
      whole,
    )
    expect(row?.kept).toBeGreaterThan(0)
    expect(row?.shown).toBeCloseTo(row?.kept ?? 0, 0)
    expect(row?.most).toBeLessThanOrEqual(1)
    const own = await truth.query<{ imported: number }>(hours, whole)
    expect(own.length).toBeGreaterThan(0)
    expect(own.filter(({ imported }) => imported !== 0)).toEqual([])
  })
})

/** What is compared at an instant: owners, listed guilds, players online, members. */
const statements = [
  `select territory, guild_uuid from game.territory_hold where valid_from <= $1 and valid_until > $1 order by 1`,
  `select territory, treasury, defences from game.territory where valid_from <= $1 and valid_until > $1 order by 1`,
  `select guild_uuid, name from game.guild_listing where valid_from <= $1 and valid_until > $1 order by 1`,
  `select world from game.world where valid_from <= $1 and valid_until > $1 order by 1`,
  `select total, listed from game.online_sample where observed_at <= $1 order by observed_at desc limit 1`,
  `select distinct on (world) world, online from game.world_sample where observed_at <= $1 order by world, observed_at desc`,
  `select distinct on (territory, resource) territory, resource, stored from game.territory_resource where observed_at <= $1
    order by territory, resource, observed_at desc`,
]

function different(here: unknown[][], there: unknown[][]) {
  const lines = (rows: unknown[][]) => rows.map((row) => JSON.stringify(row))
  const [one, other] = [lines(here), lines(there)]
  return {
    here: one.filter((line) => !other.includes(line)).slice(0, 2),
    there: other.filter((line) => !one.includes(line)).slice(0, 2),
  }
}

async function observe({ api, clock }: World, db: Database): Promise<void> {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const guards = { plausibleShare: 0.5, plausibleShares: {}, absences: 1, zeroShare: 0.25, accept: false }
  for (const resource of resources)
    await runResource(resource, { db, api, clock, program: 'test', guards, log, raw: false, notifies: false }, {})
}
