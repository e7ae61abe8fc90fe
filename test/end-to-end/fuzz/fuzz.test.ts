import { beforeAll, describe, expect, test } from 'vitest'
import { seededRandom } from '../../../src/base/clock.ts'
import type { Database } from '../../../src/db/database.ts'
import { resources } from '../../../src/resources/index.ts'
import { isWorklist, type Resource, type Worklist } from '../../../src/sync/declare/resource.ts'
import type { RunResult } from '../../../src/sync/run/run-result.ts'
import { effort } from '../../support/effort.ts'
import { testDatabase } from '../../support/postgres.ts'
import { seedsOf } from '../../support/seeds.ts'
import { wrongRows } from '../../support/verified.ts'
import { currentOf, type Facts, historyOf, keyColumns, versionTables } from './facts.ts'
import { type GoodBodies, openGoodBodies } from './good.ts'
import { deadline, type Line, openLine } from './line.ts'
import { type Touches, touchedBy } from './touched.ts'

/*
 * Mutated responses, each followed by a good one. What a mutated response says of the record that was
 * mutated may become history; of every other record not one row may differ, and after the good response everything is
 * current again that it says.
 *
 * WYNNSYNC_TEST_MUTATIONS says how many, WYNNSYNC_TEST_MUTATION_RESOURCES of
 * which resources (with commas).
 */

const start = Date.parse('2026-06-01T12:00:00Z')
/** Responses after which the tables are emptied: they would grow, and the check of them slow down. */
const segment = 40
const mutable = resources.filter(({ name }) => name in keyColumns)
const each = Math.ceil(effort.mutations / mutable.length)

describe.each(seedsOf(import.meta.filename))('mutated responses (seed %i)', (seed) => {
  let bodies: GoodBodies
  const databases: Database[] = []
  beforeAll(async () => {
    bodies = await openGoodBodies(start)
    for (let nth = 0; nth < 2; nth++) databases.push(await testDatabase('server'))
    return () => bodies.close()
  })

  test(`${each} of each resource change nothing but what they say of their own record, and heal`, {
    timeout: 36_000_000,
  }, async () => {
    const waiting = mutable.filter(({ name }) => effort.mutatedResources?.includes(name) ?? true)
    const wrong: string[] = []
    await Promise.all(
      databases.map(async (db) => {
        for (let resource = waiting.shift(); resource; resource = waiting.shift()) {
          const found = await playLine(db, resource)
          if (each >= 1000)
            process.stdout.write(`${[`${each} of ${resource.name}: ${found.length} wrong`, ...found].join('\n')}\n`)
          wrong.push(...found)
        }
      }),
    )
    expect(wrong.slice(0, 20)).toEqual([])
  })

  /** Returns what went wrong. */
  async function playLine(db: Database, resource: Resource | Worklist): Promise<string[]> {
    const wrong: string[] = []
    for (let from = 0; from < each && wrong.length < 20; from += segment) {
      const line = await openLine(db, resource, bodies, start)
      try {
        await playSegment({ db, resource, line, seed }, [from, Math.min(each, from + segment)], wrong)
      } finally {
        await line.close()
      }
    }
    return wrong
  }
})

interface Segment {
  readonly db: Database
  readonly resource: Resource | Worklist
  readonly line: Line
  readonly seed: number
}

async function playSegment(
  { db, resource, line, seed }: Segment,
  [from, until]: readonly [number, number],
  wrong: string[],
): Promise<void> {
  await line.begin()
  expect(codeOf(await line.good())).toBe(0)
  const baseline = await currentOf(db, resource)
  let before = await historyOf(db, resource)
  const keys = new Set([...before.keys()].map(keyOf))
  let touchedBefore: Touches = () => false
  for (let nth = from; nth < until; nth++) {
    const began = performance.now()
    const { run, mutation, body } = await line.mutated(seededRandom(seed * 1_000_003 + nth * 31 + resource.name.length))
    const tookMs = performance.now() - began
    const log = line.log.join(' | ')
    const healed = await line.good()
    // What is stored and says more than a right response is contradicted by two of them.
    if (lacking(baseline, await currentOf(db, resource)).length > 0) await line.good()
    const after = await historyOf(db, resource)
    const current = await currentOf(db, resource)
    const mayTouch = touchedBy(resource.name, body, mutation.paths)
    // What a mutated response made up ends when good ones lack it: part of a record with the second that lacks it.
    const touches = (key: string) => !keys.has(key) || mayTouch(key) || touchedBefore(key)
    const problems = [
      ...problemsOf(run, mutation.what, tookMs),
      ...(['ok', 'unchanged'].includes(healed.status)
        ? []
        : [`the good one after it: ${healed.status} ${healed.error}`]),
      ...changed(before, after, touches).map((fact) => `changed ${fact}`),
      ...strangers(resource, current, line.key).map((fact) => `about another key: ${fact}`),
      ...lacking(baseline, current).map((fact) => `not current again: ${fact}`),
    ]
    before = after
    touchedBefore = mayTouch
    if (problems.length === 0) continue
    wrong.push(
      `${resource.name} ${nth}: ${mutation.what} (${run.status} ${run.error ?? ''} ${log.slice(0, 200)}): ${problems.slice(0, 4).join('; ')}`,
    )
    return
  }
  await line.good()
  // Another cache window: only then what is missing is missing twice.
  const last = await line.good(Math.max(120, resource.cacheSeconds) * 1000 + 5000)
  const tables = versionTables(resource)
  const [left, right] = [await currentOf(db, resource), baseline].map((facts) => versionsAmong(facts, tables))
  if (JSON.stringify(left) !== JSON.stringify(right))
    wrong.push(`${resource.name} ${from}: ${last.status}, and other keys are current`)
  for (const rows of await wrongRows(db)) wrong.push(`${resource.name} ${from}: verify finds ${JSON.stringify(rows)}`)
}

function problemsOf(run: RunResult, what: string, tookMs: number): string[] {
  const problems: string[] = []
  const code = codeOf(run)
  if (![0, 1, 3, 75].includes(code)) problems.push(`exit ${code}`)
  // A refusal by its status, or a body beyond all bounds, is final; no value is.
  if (code === 1 && !/^(status|too much)/.test(what)) problems.push(`failed for good: ${run.error}`)
  if (tookMs > 6 * deadline + 10_000) problems.push(`took ${Math.round(tookMs)} ms`)
  return problems
}

/** As the command line judges it (docs/reference/exit-codes.md). */
function codeOf(run: RunResult): number {
  if (run.status === 'failed') return run.temporary ? 75 : 1
  return run.rejected > 0 || run.quarantined > 0 ? 3 : 0
}

/** Facts that are others now, or gone, of keys that were not touched. Keys that are new are what a response says of them. */
function changed(before: Facts, after: Facts, touches: (key: string) => boolean): string[] {
  return [...before].flatMap(([name, digest]) => (after.get(name) === digest || touches(keyOf(name)) ? [] : [name]))
}

function keyOf(fact: string): string {
  return fact.slice(0, fact.lastIndexOf(' in '))
}

/** Of a resource that is asked for by key: what is current in its first table besides that key. */
function strangers(resource: Resource | Worklist, current: Facts, key: string): string[] {
  if (!isWorklist(resource)) return []
  const [table] = versionTables(resource)
  return [...current.keys()].filter((name) => name.endsWith(` in ${table}`) && keyOf(name) !== key)
}

function lacking(should: Facts, is: Facts): string[] {
  return [...should].flatMap(([name, value]) =>
    is.get(name) === value ? [] : [`${name}: ${is.get(name)} instead of ${value}`],
  )
}

function versionsAmong(facts: Facts, tables: readonly string[]): string[] {
  return [...facts]
    .flatMap(([name, value]) => (tables.includes(name.split(' in ').at(-1) ?? '') ? [`${name} ${value}`] : []))
    .sort()
}
