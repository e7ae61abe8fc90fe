import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { buildProgram, runProgram } from '../support/cli.ts'
import { temporaryFolder } from '../support/postgres.ts'

const lines = (text: string) => text.split('\n').map((line) => line.trim().replace(/ {2,}/g, '  '))

beforeAll(buildProgram)

test('the demo shows tables as it goes, and those that the README quotes from it', { timeout: 240_000 }, async () => {
  const folder = await temporaryFolder()
  const { code, out, err } = await runProgram(['demo'], { TMPDIR: folder }, folder)
  expect([code, err]).toEqual([0, ''])
  const order = [
    'Who holds how much',
    ' recipes',
    'Which legendary bows',
    'Day 1: ',
    'Day 2',
    'Day 3',
    'What did',
    'held longest',
  ]
  expect(order.map((part) => out.indexOf(part))).toEqual(order.map((part) => out.indexOf(part)).sort((a, b) => a - b))
  expect(out).not.toContain('(no rows)')
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('<html')
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
  const [, quoted = ''] = /few questions and writes a report:\n\n```\n(.*?)```/s.exec(readme) ?? []
  const said = lines(out)
  const wanted = lines(quoted).filter((line) => !['', '...', '.../report.html'].includes(line))
  expect(wanted.length).toBeGreaterThan(8)
  expect(wanted.filter((line) => !said.includes(line))).toEqual([])
})
