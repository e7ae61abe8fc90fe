import { describe, expect, test } from 'vitest'
import { fillEmpty } from '../../src/db/bulk/fill-empty.ts'
import type { Database } from '../../src/db/database.ts'
import { sqlState } from '../../src/db/sql-errors.ts'
import { bothKinds, testDatabase } from '../support/postgres.ts'

async function openParents(kind: (typeof bothKinds)[number]): Promise<Database> {
  const db = await testDatabase(kind, { migrated: false })
  await db.query(
    `create table parent (name text, since int, before int, constraint parent_key primary key (name, since),
                          constraint parent_start unique nulls not distinct (name, before),
                          constraint parent_chain foreign key (name, before) references parent (name, since) deferrable initially deferred);
     create index parent_first on parent (name) where before is null;
     create table part (name text, since int, place int, constraint part_key primary key (name, since, place),
                        constraint part_root foreign key (name, since) references parent (name, since) on delete cascade)`,
  )
  return db
}

const shapeOf = (db: Database) =>
  db.values(
    `select conname::text, pg_get_constraintdef(oid), condeferred from pg_constraint where conrelid in ('parent'::regclass, 'part'::regclass)
      union all select indexrelid::regclass::text, pg_get_indexdef(indexrelid), indisvalid from pg_index
                 where indrelid in ('parent'::regclass, 'part'::regclass) order by 1, 2`,
  )

const indexes = `select count(*)::int from pg_index where indrelid in ('parent'::regclass, 'part'::regclass)`

describe.each(bothKinds)('filling an empty table of the %s database', (kind) => {
  test('makes its indexes and constraints, and those that refer to it, as they were', async () => {
    const db = await openParents(kind)
    const before = await shapeOf(db)
    await db.transaction((sql) =>
      fillEmpty(sql, ['parent', 'part'], async () => {
        expect(await sql.values(indexes)).toEqual([[0]])
        await sql.copy('part', ['name', 'since', 'place'], [['a', 1, 1]])
        await sql.copy(
          'parent',
          ['name', 'since', 'before'],
          [
            ['a', 2, 1],
            ['a', 1, null],
          ],
        )
      }),
    )
    expect(await shapeOf(db)).toEqual(before)
    expect(await db.values('select count(*)::int from part join parent using (name, since)')).toEqual([[1]])
  })

  test.each([
    [
      'a row twice',
      [
        ['a', 1, null],
        ['b', 1, null],
        ['a', 1, 1],
      ],
      '23505',
    ],
    [
      'a version behind none',
      [
        ['a', 1, null],
        ['a', 3, 2],
      ],
      '23503',
    ],
  ])('refuses %s, and leaves the table as it was', async (_, rows, state) => {
    const db = await openParents(kind)
    const before = await shapeOf(db)
    const filled = db.transaction((sql) =>
      fillEmpty(sql, ['parent'], () => sql.copy('parent', ['name', 'since', 'before'], rows)),
    )
    await expect(filled.catch((error) => Promise.reject(sqlState(error)))).rejects.toBe(state)
    expect(await shapeOf(db)).toEqual(before)
    expect(await db.values('select from parent')).toEqual([])
  })

  test('leaves one with rows as it is', async () => {
    const db = await openParents(kind)
    await db.query(`insert into parent values ('a', 1, null)`)
    await db.transaction((sql) =>
      fillEmpty(sql, ['parent'], async () => expect(await sql.values(indexes)).toEqual([[4]])),
    )
  })
})
