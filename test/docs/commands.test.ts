import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { settingNames } from '../../src/app/config.ts'
import { buildProgram, runProgram } from '../support/cli.ts'

const page = (name: string) => readFileSync(join(import.meta.dirname, '../../docs/reference', name), 'utf8')

beforeAll(buildProgram, 300_000)

test('the reference of commands has every command of --help, and no other', async () => {
  const { out } = await runProgram(['--help'])
  const offered = [...(out.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name)
  const table = page('cli.md').split('## ')[0] ?? ''
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  const written = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([a-z-]+)/g)].map(([, name]) => name))
  expect([...new Set(written)].sort()).toEqual(offered.filter((name) => name !== 'help').sort())
})

test('the reference of settings has every one of them', () => {
  const rows = [...page('configuration.md').matchAll(/^\| `([A-Z_\d]+)` \|/gm)].map(([, name]) => name)
  expect(rows.sort()).toEqual([...settingNames].sort())
})
