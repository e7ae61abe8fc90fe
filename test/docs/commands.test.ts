import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { settingNames } from '../../src/base/config.ts'
import { buildProgram, runProgram } from '../support/cli.ts'

const page = (name: string) => readFileSync(join(import.meta.dirname, '../../docs/reference', name), 'utf8')

beforeAll(buildProgram, 300_000)

test('the reference of commands has every command of --help, and no other', async () => {
  const { out } = await runProgram(['--help'])
  const [, list = ''] = out.split('\nBegin:\n')
  const offered = [...(list.split('\nExamples:')[0] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name)
  const table = page('cli.md').split('## ')[0] ?? ''
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  const written = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([a-z-]+)/g)].map(([, name]) => name))
  // In the same groups and in the same order.
  expect([...new Set(written)]).toEqual(offered.filter((name) => name !== 'help'))
  expect([...table.matchAll(/^\*\*(.*)\*\*$/gm)].map(([, title]) => `${title}:`)).toEqual(
    [...out.matchAll(/^[A-Z][a-z ]*:$/gm)].flatMap(([title]) => (/^(Options|Examples)/.test(title) ? [] : [title])),
  )
})

test('the reference of settings has every one of them', () => {
  const rows = [...page('configuration.md').matchAll(/^\| `([A-Z_\d]+)` \|/gm)].map(([, name]) => name)
  expect(rows.sort()).toEqual([...settingNames].sort())
})
