import { expect, test } from 'vitest'
import { giveBack, lendDatabase } from '../support/lent-database.ts'

test('a database is handed on with empty tables, and not when a test changed its tables', async () => {
  const first = await lendDatabase('server')
  await first.db.query(`insert into game.news_comments values ('', now(), null)`)
  await giveBack(first)
  const again = await lendDatabase('server')
  expect(again).toBe(first)
  expect(await again.db.values('select count(*)::int from game.news_comments')).toEqual([[0]])

  await again.db.query('alter table game.news_comments add constraint test_rule check (true)')
  await giveBack(again)
  const other = await lendDatabase('server')
  expect(other).not.toBe(first)
  await giveBack(other)
})
