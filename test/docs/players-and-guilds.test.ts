import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { watchEvents } from '../../src/monitoring/watches/watch.ts'
import { readQuestions } from '../../src/questions/questions.ts'
import { testDatabase } from '../support/postgres.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/explanation/players-and-guilds.md'), 'utf8')
const rows = [...page.matchAll(/^\| (?!to know|---)(.+) \|$/gm)].map(([, row = '']) =>
  row.split(' | ').map((cell) => cell.trim()),
)
const named = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)

test('the table of what is known of a player or a guild names questions and watches that there are, and a page for each row', async () => {
  expect(rows.length).toBeGreaterThan(15)
  const questions = (await readQuestions(await testDatabase('server'))).map(({ name }) => name)
  for (const [what, question, path, watch] of rows) {
    expect([what, named(question).filter((name) => !questions.includes(name))]).toEqual([what, []])
    expect([what, named(question).length]).not.toEqual([what, 0])
    expect([what, named(path).every((one) => one.startsWith('/')), named(path).length > 0]).toEqual([what, true, true])
    const events = named(watch).filter((name) => !/^(--|member$)/.test(name))
    expect([what, events.filter((name) => !watchEvents.some((one) => one === name))]).toEqual([what, []])
  }
})
