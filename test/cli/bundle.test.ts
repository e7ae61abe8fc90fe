import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { buildProgram, mainFile, startCommand } from '../support/cli.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

const chunks = join(mainFile, '../program')

/** Notes every file of code that the program reads, in the file that its own URL names. */
const HOOK = `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const into = new URL(import.meta.url).searchParams.get('into')
const read = fs.readFileSync
fs.readFileSync = (file, ...rest) => {
  if (/js$/.test(file)) fs.appendFileSync(into, file + '\\n')
  return read(file, ...rest)
}
syncBuiltinESMExports()
`

describe('the bundled program', () => {
  beforeAll(buildProgram)

  test('is of ASCII alone, since it is read as Latin 1', () => {
    const other = readdirSync(chunks)
      .filter((name) => name.endsWith('.cjs'))
      .flatMap((name) => /.{0,40}[^\0-\x7f].{0,20}/.exec(readFileSync(join(chunks, name), 'utf8'))?.[0] ?? [])
    expect(other).toEqual([])
  })

  test('reads few files and little code for one territory poll, and nothing from node_modules', async () => {
    const folder = inject('runFolder')
    const [hook, list] = [join(folder, 'hook.mjs'), join(folder, 'loaded.txt')]
    writeFileSync(hook, HOOK)
    const sandbox = await servedApi()
    const args = [`--import=file://${hook}?into=${list}`, mainFile, 'sync', 'territories', '--log-level', 'warn']
    const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: sandbox.url }
    const { code, err } = await startCommand(process.execPath, args, environment).finished
    expect([code, err]).toEqual([0, ''])
    // Node 24 reads modules by the same function, the first one too, and names some by their URL.
    const named = readFileSync(list, 'utf8').trim().split('\n')
    const files = new Set(named.map((file) => (file.startsWith('file:') ? fileURLToPath(file) : file)))
    const loaded = [...files].filter((file) => file !== mainFile && file !== hook)
    const bytes = loaded.reduce((sum, file) => sum + readFileSync(file).length, 0)
    expect(loaded.filter((file) => !file.startsWith(chunks))).toEqual([])
    expect(loaded.length).toBeGreaterThan(10)
    expect(loaded.length).toBeLessThan(87)
    // What knows proxies is read by those alone who have one; what installs migrations, or posts to a webhook, where there is one to.
    expect(loaded.filter((file) => file.includes('proxy'))).toEqual([])
    // Each resource brings its schemas and tables, about 20 kB; what confirms restrictions and absences, about 15 kB; reading a
    // database's URL as libpq does, and what refuses another API's responses, about 20 kB;
    // one way for all HTTP requests, and what it says of certificates and redirects, about 5 kB; which fields responses lack, which move
    // with each of them, and what single responses claim of members and lists, about 50 kB;
    // what `verify` checks of a resource, about 7 kB;
    // which of many new keys wait for a second response, and few rows written by one statement, about 12 kB;
    // since when the records of single keys cannot be read, about 3 kB; what items were called before August 2024, about 5 kB;
    // what says of files that the API of 2023 sent them, and how copies keep their `Date`, about 3 kB;
    // what is new inside of what is counted, and around records, about 5 kB; which fields come under other names each time, and what says
    // where room is needed or a repository is damaged, about 3 kB.
    expect(bytes).toBeLessThan(1_879_000)
  })

  test('parses responses where the processor cannot run its first parser', async () => {
    const sandbox = await servedApi()
    const environment = {
      DATABASE_URL: await testDatabaseUrl(),
      WYNNSYNC_BASE_URL: sandbox.url,
      UNDICI_NO_WASM_SIMD: '1',
    }
    const { code, out } = await startCommand(process.execPath, [mainFile, 'sync', 'seasons', '--json'], environment)
      .finished
    expect([code, JSON.parse(out)]).toMatchObject([0, { runs: [{ status: 'ok' }] }])
  })

  test('keeps the names of errors, and the licenses of what it holds', () => {
    const code = readdirSync(chunks).flatMap((name) => readFileSync(join(chunks, name), 'utf8'))
    expect(code.join('').match(/class \w+\d extends \w*Error/g)).toBeNull()
    // Elements that register for events take twice as long to draw.
    expect(code.filter((one) => one.includes('.eventPhase=event.CAPTURING_PHASE'))).toEqual([])
    const held = [...readFileSync(join(chunks, 'LICENSES.txt'), 'utf8').matchAll(/^([@\w/-]+) [0-9.]+, \S+\n/gm)]
    const names = held.map(([, name]) => name)
    expect(names).toEqual(expect.arrayContaining(['drizzle-orm', 'linkedom', 'postgres', 'undici', 'zod']))
  })
})
