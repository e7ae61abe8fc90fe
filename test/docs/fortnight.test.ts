import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLines, ruleOf, rules } from '../fortnight/docs.ts'

const lines = readLines(join(import.meta.dirname, '../..'))

test('every line that the docs tell to type is played by `npm run test:fortnight`, or left out with a reason', () => {
  expect(lines.filter((line) => ruleOf(line) === undefined)).toEqual([])
  expect(lines.length).toBeGreaterThan(80)
})

test('every rule of the play has a line, and says one thing', () => {
  const used = new Set(lines.map(ruleOf))
  expect(rules.filter((rule) => !used.has(rule))).toEqual([])
  expect(rules.filter((rule) => (rule.in === undefined) === (rule.leftOut === undefined))).toEqual([])
})
