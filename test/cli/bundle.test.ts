import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { keepCompiledCode } from '../../src/cli/compiled-code.ts'
import { buildProgram, mainFile, startCommand } from '../support/cli.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

const chunks = join(mainFile, '../program')

/** Notes every file that Node reads a module from, in the file that its own URL names. */
const HOOK = `
import { appendFileSync } from 'node:fs'
import { register } from 'node:module'
const hook = (file) => 'import { appendFileSync } from "node:fs"; export function load(url, context, next) {' +
  'if (url.startsWith("file:")) appendFileSync(' + JSON.stringify(file) + ', url + "\\\\n"); return next(url, context) }'
register('data:text/javascript,' + encodeURIComponent(hook(new URL(import.meta.url).searchParams.get('into'))))
`

describe('the bundled program', () => {
  beforeAll(buildProgram)

  test('reads few files and little code for one territory poll, and nothing from node_modules', async () => {
    const folder = inject('runFolder')
    const [hook, list] = [join(folder, 'hook.mjs'), join(folder, 'loaded.txt')]
    writeFileSync(hook, HOOK)
    const sandbox = await servedApi()
    const args = [`--import=file://${hook}?into=${list}`, mainFile, 'sync', 'territories', '--log-level', 'warn']
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: sandbox.url }
    const { code, err } = await startCommand(process.execPath, args, environment).finished
    expect([code, err]).toEqual([0, ''])
    const loaded = [...new Set(readFileSync(list, 'utf8').trim().split('\n'))].filter(
      (url) => !url.includes('hook.mjs'),
    )
    const bytes = loaded.reduce((sum, url) => sum + readFileSync(new URL(url)).length, 0)
    expect(loaded.filter((url) => !url.includes('/dist/'))).toEqual([])
    expect(loaded.length).toBeLessThan(60)
    expect(bytes).toBeLessThan(1_600_000)
  })

  test('keeps the names of errors, and the licenses of what it holds', () => {
    const code = readdirSync(chunks).flatMap((name) => readFileSync(join(chunks, name), 'utf8'))
    expect(code.join('').match(/class \w+\d extends \w*Error/g)).toBeNull()
    const held = [...readFileSync(join(chunks, 'LICENSES.txt'), 'utf8').matchAll(/^([@\w/-]+) [0-9.]+, \S+\n/gm)]
    const names = held.map(([, name]) => name)
    expect(names).toEqual(expect.arrayContaining(['drizzle-orm', 'linkedom', 'postgres', 'undici', 'zod']))
  })
})

test('compiled code is kept in a folder of the user, where Node can', async () => {
  const folders: string[] = []
  const keeper = { enableCompileCache: (folder: string) => folders.push(folder) }
  await keepCompiledCode(keeper as never)
  expect(folders).toEqual([expect.stringContaining('wynnsync')])
  await expect(keepCompiledCode({} as never)).resolves.toBeUndefined()
})
