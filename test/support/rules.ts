import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Reporter } from 'vitest/node'
import { chosenPart, isWhole } from './parts.ts'

const folder = join(import.meta.dirname, '..')

/** The correctness rules, and what else the quick part holds, with the test files of each as paths below `test`. */
export interface Rules {
  readonly rules: readonly { readonly number: string; readonly rule: string; readonly tests: readonly string[] }[]
  readonly house: readonly string[]
}

export function readRules(): Rules {
  const { rules, house }: { rules: Record<string, Omit<Rules['rules'][number], 'number'>>; house: string[] } =
    JSON.parse(readFileSync(join(folder, 'rules.json'), 'utf8'))
  return { rules: Object.entries(rules).map(([number, one]) => ({ number, ...one })), house }
}

/** How many tests a file has, and how long they took. */
interface Cost {
  readonly tests: number
  readonly seconds: number
}

/** Lines with the files, tests and seconds of each rule, most seconds first, and of the house. A file that has no rule yet counts for the house. */
export function costLines({ rules }: Rules, costs: ReadonlyMap<string, Cost>): string[] {
  const ruled = new Set(rules.flatMap(({ tests }) => tests))
  const row = (number: string, rule: string, files: readonly string[]) => {
    const of = files.flatMap((file) => costs.get(file) ?? [])
    const sum = (value: (cost: Cost) => number) => of.reduce((total, cost) => total + value(cost), 0)
    return { number, rule, files: of.length, tests: sum(({ tests }) => tests), seconds: sum(({ seconds }) => seconds) }
  }
  const house = [...costs.keys()].filter((file) => !ruled.has(file))
  const rows = rules.map(({ number, rule, tests }) => row(number, rule, tests)).sort((a, b) => b.seconds - a.seconds)
  const line = (cells: readonly string[]) =>
    cells.map((cell, nth) => (nth === 1 ? cell.padEnd(50) : cell.padStart(nth === 0 ? 4 : 7))).join('  ')
  return [
    line(['rule', '', 'files', 'tests', 'seconds']),
    ...[...rows, row('', 'beside the rules', house)].map(({ number, rule, files, tests, seconds }) =>
      line([number, rule.slice(0, 50), `${files}`, `${tests}`, seconds.toFixed(1)]),
    ),
  ]
}

/** At the end of the whole quick part: prints what each correctness rule costs. */
export const rulesReporter: Reporter = {
  onTestRunEnd(modules) {
    if (chosenPart() !== 'quick' || !isWhole(modules)) return
    const costs = modules.map((module): [string, Cost] => [
      relative(folder, module.moduleId).split(sep).join('/'),
      { tests: [...module.children.allTests()].length, seconds: module.diagnostic().duration / 1000 },
    ])
    process.stdout.write(`${costLines(readRules(), new Map(costs)).join('\n')}\n`)
  },
}
