import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../src/db/database.ts'
import { type FaultName, faultNames } from '../../../src/sandbox/index.ts'
import type { RunResult } from '../../../src/sync/run/run-result.ts'
import { effort } from '../../support/effort.ts'
import { testDatabase } from '../../support/postgres.ts'
import { wrongRows } from '../../support/verified.ts'
import { acceptedAnswers, openScene, replay, type Scene, start, syncEverything } from './scene.ts'
import { digestsOf, factTables, rowsOf, standing, timeless } from './tables.ts'

/** Longer than any copy lives, so that every round brings new answers. */
const round = 61 * 60_000
const patches = [start + round, start + 2 * round]

/**
 * What a fault may come to. The tables are as if only the accepted answers had been asked for, without faults: to the
 * last instant, or but for instants where the fault is about them. Where the fault is in what the API says, its traces
 * are history, in tables that match `traces`; what stands there in the end is as if it had never been.
 */
interface Expected {
  readonly timeless?: boolean
  readonly traces?: RegExp
  /** Tables that the other database has otherwise. */
  readonly differs?: RegExp
  /** Exit codes that runs may end with besides 0, each of which is met. */
  readonly codes?: readonly number[]
  /** Exit codes that runs may end with as well. */
  readonly mayBe?: readonly number[]
  readonly share?: number
  readonly walk?: boolean
}

const expected: Readonly<Record<FaultName, Expected>> = {
  storm: {},
  'bare-storm': { codes: [75] },
  gateway: { codes: [75], share: 0.8 },
  html: { codes: [75], share: 0.8 },
  'stray-forbidden': { mayBe: [75] },
  'stray-not-found': { mayBe: [75] },
  // Three in a row stop the run.
  forbidden: { mayBe: [3] },
  'not-found': { mayBe: [3] },
  // What a guest is not shown does not remove what a token was shown; the other database was given all with the token.
  revoked: { differs: /member_presence/ },
  truncated: { codes: [75], share: 0.8 },
  'empty-body': { codes: [75], share: 0.8 },
  nothing: { codes: [3, 75] },
  drip: {},
  reset: { codes: [75], share: 0.8 },
  'no-limit-headers': {},
  'odd-limit-headers': {},
  'far-reset': {},
  'no-cache-headers': {},
  'odd-cache-headers': { timeless: true },
  skew: { timeless: true },
  // An old copy is loaded as what it says now where it says an age that cannot be: a header that is wrong must not blind a resource.
  stale: { traces: /./, mayBe: [3] },
  'partial-members': { codes: [3] },
  'replaced-walk': { walk: true },
  'null-worlds': { traces: /world|player_hop|player_listing/ },
  'nobody-online': { codes: [3] },
  vanishing: { traces: /./, mayBe: [3] },
  'unknown-fields': { traces: /./ },
  'unknown-members': { traces: /item|recipe|territory$|territory_link|guild_member|field_change|enumeration|player$/ },
  'twin-names': { traces: /item|guild_listing|field_change/, share: 1 },
  private: { traces: /guild_member|member_|guild_sample|player|character_/, share: 1 },
  'zero-counters': { traces: /_counter/ },
  'double-counters': { traces: /_counter/ },
  'odd-records': { codes: [3] },
  'dated-ahead': { codes: [3] },
  'dated-1970': { codes: [3], timeless: true },
  'future-acquired': { traces: /territory_(hold|capture)/ },
  'swapped-territories': { traces: /territory_(hold|capture)/ },
  'no-joined': { traces: /guild_member/ },
  'hostile-error': { codes: [75], share: 0.8 },
  trickle: {},
  'bad-instants': { traces: /./, codes: [3], share: 1 },
  'bad-text': { traces: /./, codes: [3], share: 1 },
  'bad-numbers': { traces: /./, codes: [3], share: 1 },
  'capital-uuids': { share: 1 },
  'deep-nesting': { traces: /./, codes: [3], share: 1 },
  'bad-utf8': { codes: [75], share: 0.8 },
}

/** Resources that take several requests, and their tables: one that fails costs its own records until the next run, and not the others. */
const ofSeveralRequests = /^(ability-trees|articles|aspects|camps|classes|item-metadata|loot-pools|raids)$/
const theirTables = /^game\.(ability|article|aspect|camp|class|enumeration|field_change|loot|raid)/

/** As the command line judges it (docs/reference/exit-codes.md). */
function codeOf(run: RunResult): number {
  if (run.status === 'failed') return run.temporary ? 75 : 1
  return run.rejected > 0 || run.quarantined > 0 ? 3 : 0
}

describe('every resource, synced while one fault acts', () => {
  let db: Database
  let twinDb: Database
  beforeAll(async () => {
    db = await testDatabase('server')
    twinDb = await testDatabase('server')
  })

  // A few in CI, and others mixed in mixed.test.ts; all of them with WYNNSYNC_TEST_FULL=1.
  const chosen = faultNames.filter((_, nth) => effort.everyAnswer || nth % 8 === 0)
  test.each(chosen)('%s leaves right tables and a right verdict, and heals', async (fault) => {
    const { codes = [], mayBe = [], share = 0.5, walk = false } = expected[fault]
    const token = fault === 'revoked' ? 'of-a-player' : undefined
    const scene = await openScene(db, token)
    const twin = await openScene(twinDb, token)
    try {
      expect((await syncEverything(scene, walk)).map(codeOf)).toEqual(Array(19).fill(0))
      scene.world.sandbox.setFaults({ [fault]: share })
      const spoilt: RunResult[] = []
      for (let nth = 1; nth <= 2; nth++) {
        await scene.playTo(start + nth * round, patches)
        spoilt.push(...(await syncEverything(scene, walk)))
      }
      expect(scene.world.sandbox.faultsDone().total).toBeGreaterThan(0)
      expect(spoilt.filter((run) => ![0, ...codes, ...mayBe].includes(codeOf(run)))).toEqual([])
      for (const code of codes) expect(spoilt.map(codeOf)).toContain(code)
      scene.world.sandbox.setFaults(null)
      // What a fault made up is gone when two responses in a row lack it.
      for (let nth = 3; nth <= (expected[fault].traces ? 4 : 3); nth++) {
        await scene.playTo(start + nth * round, patches)
        const healed = await syncEverything(scene, walk)
        expect(healed.filter(({ status }) => status !== 'ok' && status !== 'unchanged')).toEqual([])
      }
      await replay(twin, await acceptedAnswers(scene, fault === 'skew' ? 'request' : 'headers'), patches, walk)
      await compareTables(db, twinDb, expected[fault])
      expect(await wrongRows(db)).toEqual([])
    } finally {
      await closed(scene, twin)
    }
  })
})

/** Whether a row says that it is of a resource that takes one request. */
const isOther = (resource: unknown) => typeof resource === 'string' && !ofSeveralRequests.test(resource)

/** Fails with the first table in which what was found is not what should be. */
async function compareTables(
  db: Database,
  twin: Database,
  { timeless: anyTime, traces, differs, codes = [], mayBe = [] }: Expected,
): Promise<void> {
  const tables = await factTables(db)
  const [found, right] = [await digestsOf(db, tables), await digestsOf(twin, tables)]
  for (const table of tables.filter((one) => found.get(one) !== right.get(one))) {
    const [rows, should] = [await rowsOf(db, table), await rowsOf(twin, table)]
    if (differs?.test(table)) continue
    const isLate = [...codes, ...mayBe].length > 0 && theirTables.test(table)
    const sure = (all: typeof rows) => (isLate ? all.filter(({ resource }) => isOther(resource)) : all)
    if (anyTime) expect([table, timeless(rows)]).toEqual([table, timeless(should)])
    else if (!traces?.test(table)) expect([table, sure(rows)]).toEqual([table, sure(should)])
    expect([table, await standing(db, table, rows)]).toEqual([table, await standing(twin, table, should)])
  }
}

async function closed(...scenes: readonly Scene[]): Promise<void> {
  for (const scene of scenes) await scene.close()
}
