import { beforeAll, expect, test } from 'vitest'
import { buildProgram, startCommand } from '../support/cli.ts'

const root = new URL('../../', import.meta.url).pathname

beforeAll(buildProgram)

test('every generated file is up to date: comments, dictionary, views, tables of the docs, JSON schemas', {
  timeout: 180_000,
}, async () => {
  const check = startCommand(process.execPath, ['scripts/generate.mjs', '--check'], {}, root)
  expect(await check.finished).toEqual({ code: 0, out: '', err: '' })
})
