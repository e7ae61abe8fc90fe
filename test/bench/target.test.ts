import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isMet, type Target, targetLine } from './target.ts'

const load: Target = { name: '1 load', unit: 'rows/s', reference: 'raw COPY', bound: { of: 'ratio', atLeast: 0.8 } }
const memory: Target = { name: '4 memory', unit: 'MB', bound: { of: 'measured', atMost: 160 } }

test('a target is met by its ratio to the reference of the same run', () => {
  expect(targetLine({ target: load, measured: 528_400, reference: 1_000_000 })).toEqual({
    target: '1 load',
    measured: '528,000 rows/s',
    reference: 'raw COPY: 1,000,000',
    ratio: '0.528',
    bound: 'ratio at least 0.8',
    verdict: 'not met',
  })
  expect(targetLine({ target: load, measured: 800_000, reference: 1_000_000 }).verdict).toBe('met')
})

test('a target without a reference is met by what was measured', () => {
  expect(targetLine({ target: memory, measured: 160 })).toMatchObject({ ratio: '', reference: '', verdict: 'met' })
  expect(targetLine({ target: memory, measured: 160.5 }).verdict).toBe('not met')
})

test('what could not be measured meets nothing', () => {
  expect(isMet(memory.bound, Number.NaN)).toBe(false)
  expect(targetLine({ target: load, measured: 1 }).verdict).toBe('not met')
})

test('the bench takes nothing from the support of tests but Postgres: it is compiled without their runner', () => {
  const folder = new URL('./', import.meta.url)
  const files = readdirSync(folder, { recursive: true }).map(String)
  const programs = files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const taken = programs.flatMap((name) =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(/from '(?:\.\.\/)+support\/(\S+)'/g)].map(
      ([, file]) => file,
    ),
  )
  expect(programs.length).toBeGreaterThan(20)
  expect([...new Set(taken)].sort()).toEqual(['postgres-binaries.ts', 'postgres-docker.ts'])
})
