import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { buildProgram } from '../support/cli.ts'

beforeAll(buildProgram)

test('every generated file is up to date: comments, dictionary, views, tables of the docs, JSON schemas', () => {
  const script = join(import.meta.dirname, '../../scripts/generate.mjs')
  const check = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
  expect(check.stderr).toBe('')
  expect(check.status).toBe(0)
})
