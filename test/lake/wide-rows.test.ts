import { join } from 'node:path'
import { expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { exportLake } from '../../src/lake/export.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'

test('rows of 30 kB each are exported: DuckDB holds 2,048 of them at once', async () => {
  const db = await testDatabase('server')
  await db.query(
    `insert into game.field_change (resource, key, path, changed_at, new_value, is_revert)
     select 'items', 'Oak ' || n, '/lore', '2026-06-01T10:00Z', to_jsonb(repeat(md5(n::text), 940)), false
       from generate_series(1, 5000) n`,
  )
  const folder = join(await temporaryFolder(), 'lake')
  const clock = virtualClock(Date.parse('2026-06-02T00:00Z'))
  const options = { clock, program: 'test', people: false, keepMs: 0, onProgress: () => {} }
  expect(await exportLake(db, folder, options)).toMatchObject({ rows: 5000 })
})
