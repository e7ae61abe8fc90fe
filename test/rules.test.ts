import { describe, expect, test } from 'vitest'
import { filesOf } from './support/parts.ts'
import { costLines, readRules } from './support/rules.ts'

const all = readRules()

describe('test/rules.json', () => {
  test('names each test file of the quick part once, under a rule or beside the rules', () => {
    const named = [...all.rules.flatMap(({ tests }) => tests), ...all.house]
    expect(named.sort()).toEqual(filesOf('quick').sort())
  })

  test('has the 23 correctness rules in order, each with a test', () => {
    expect(all.rules.map(({ number }) => Number(number))).toEqual(Array.from({ length: 23 }, (_, nth) => nth + 1))
    expect(all.rules.filter(({ tests }) => tests.length === 0)).toEqual([])
  })
})

test('what rules cost is told for the most expensive first, and last for what is beside them', () => {
  const rules = ['Clocks agree.', `${'Absence '.repeat(9)}ends nothing.`].map((rule, nth) => ({
    number: `${nth + 1}`,
    rule,
    tests: [`${nth}.test.ts`],
  }))
  const costs = [3, 1, 4, 5].map((tests, nth) => [`${nth}.test.ts`, { tests, seconds: nth / 4 }] as const)
  const lines = costLines({ rules, house: ['2.test.ts'] }, new Map(costs))
  expect(lines.map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['rule', 'files', 'tests', 'seconds'],
    ['2', 'Absence '.repeat(9).slice(0, 50).trim(), '1', '1', '0.3'],
    ['1', 'Clocks agree.', '1', '3', '0.0'],
    ['beside the rules', '2', '9', '1.3'],
  ])
})
