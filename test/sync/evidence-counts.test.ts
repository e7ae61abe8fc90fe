import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { testDatabase } from '../support/postgres.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Columns of the engine that count something, each with what that is; none is how many responses agree. */
const counted: Readonly<Record<string, string>> = {
  'sync.claim.times': 'the responses that agree, which only corroborate counts',
  'sync.coverage_hour.missed': 'observations that were expected',
  'sync.gap.missed': 'observations that were expected',
  'sync.watch_delivery.attempts': 'requests to a receiver of messages',
}

const isCounter =
  /(^|_)(times|awaits|attempts|repeats|absences|refusals|confirmations|agreeing|hits|missed|streak|count)$/

/** Sources of the program without comments, by path. */
function sources(): Map<string, string> {
  const found = new Map<string, string>()
  for (const path of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!/\.(ts|sql)$/.test(path)) continue
    const text = readFileSync(join(root, 'src', path), 'utf8')
    found.set(path, text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*(\/\/|--).*$/gm, ''))
  }
  return found
}

/** Places in the sources that match, as `path: text`. */
function placesOf(pattern: RegExp, beside: readonly string[]): string[] {
  return [...sources()].flatMap(([path, text]) =>
    beside.includes(path) ? [] : [...text.matchAll(pattern)].map(([match]) => `${path}: ${match}`),
  )
}

test('No table but sync.claim counts responses that agree', async () => {
  const db = await testDatabase('server')
  const columns = await db.query<{ name: string }>(
    `select relnamespace::regnamespace || '.' || relname || '.' || attname as name
       from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = 'sync'::regnamespace and relkind in ('r', 'p') and not relispartition
        and attnum > 0 and not attisdropped and atttypid in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) order by 1`,
  )
  expect(columns.length).toBeGreaterThan(30)
  const counters = columns.map(({ name }) => name).filter((name) => isCounter.test(name.split('.')[2] ?? ''))
  expect(counters).toEqual(Object.keys(counted))
})

test('Only corroborate writes how often something was claimed', () => {
  const writes = /insert into sync\.claim|update sync\.claim|insert\(claim\)|update\(claim\)/g
  expect(
    placesOf(writes, ['sync/evidence/claims.ts', 'sync/evidence/orphan-claims.ts', 'sync/replay/shadow.ts']),
  ).toEqual([])
  // An import copies claims, each as made once, and counts nothing.
  expect(sources().get('sync/evidence/orphan-claims.ts')).toMatch(
    /insert into sync\.claim \(.* times, run_id\)\n.* last_received_at, 1, run_id from \(\$\{claims\}\) copied\n +on conflict do nothing\n/,
  )
  // A replay copies claims, and counts nothing.
  expect(sources().get('sync/replay/shadow.ts')).toMatch(/insert into sync_replay\.claim select \* from sync\.claim/)
})

test('No code compares how far responses are apart but corroborate, or counts down to a conclusion', () => {
  const counters =
    /\bset \w+ = \w+ [-+] 1\b|\b(awaits|refusedTimes|refused_times|latest_received_at|latestReceivedAt)\b/g
  expect(placesOf(counters, [])).toEqual([])
  const apart = /\b(isAnotherWindow|isApart|\w*[sS]pacing)\b/g
  expect(placesOf(apart, []).filter((place) => place.startsWith('sync/'))).toEqual([])
})
