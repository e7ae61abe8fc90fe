import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildProgram, type Environment } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { hasTerminals, onTerminal } from '../support/terminal.ts'
import { item } from '../support/world.ts'

const items = Array.from({ length: 40 }, (_, index) =>
  item(`Bow ${index} ${'of a long name '.repeat(6)}`, {
    type: 'weapon',
    identifications: { rawStrength: 5_664_000_000 + index },
    displayName: '長い名前の弓',
  }),
)

let environment: Environment
let cwd: string

beforeAll(async () => {
  await buildProgram()
  cwd = await temporaryFolder()
  environment = { DATABASE_URL: await testDatabaseUrl(), PAGER: '' }
  const api = await servedApi()
  serveItems(api, items)
  expect((await runInside(['sync', 'items', '--base-url', api.url], environment)).code).toBe(0)
  await api.close()
})

/** What a terminal of that size shows. */
async function shown(args: readonly string[], extra: Environment = {}, size = { columns: 80, rows: 24 }) {
  const { code, out } = await onTerminal(args, { ...environment, ...extra }, cwd, size).finished
  expect(code, out).toBe(0)
  return { raw: out, lines: stripVTControlCharacters(out).trimEnd().split('\r\n') }
}

const identifications = ['query', 'item_identification', '--limit', '3']
/** A Chinese character takes two cells. */
const cells = (line: string) => line.length + (line.match(/[\u3000-\u9fff]/g)?.length ?? 0)

describe.skipIf(!hasTerminals)('a table on a terminal', () => {
  test('fits its width: texts are cut, numbers are not, and what is left out is named', async () => {
    const { lines } = await shown(identifications)
    for (const line of lines) expect(cells(line)).toBeLessThanOrEqual(80)
    expect(lines[1]).toMatch(/^Bow \d.*… .* 5\.66 bn/)
    const narrow = await shown(['query', 'item', '--limit', '3'])
    for (const line of narrow.lines) expect(cells(line)).toBeLessThanOrEqual(80)
    expect(narrow.lines).toContainEqual(expect.stringMatching(/^\(\d+ more columns, which --wide shows: \w+, /))
  })

  test('is as wide as $COLUMNS says, and whole with --wide', async () => {
    const { lines } = await shown(identifications, { COLUMNS: '50' })
    for (const line of lines) expect(cells(line)).toBeLessThanOrEqual(50)
    const wide = await shown([...identifications, '--wide'])
    expect(wide.lines[1]).toContain('of a long name '.repeat(6).trim())
    expect(wide.lines[1]).not.toContain('…')
  })

  test('has bold headings, unless NO_COLOR is set', async () => {
    const bold = '\u001b[1minternal_'
    expect((await shown(identifications)).raw).toContain(bold)
    expect((await shown(identifications, { NO_COLOR: '1' })).raw).not.toContain('\u001b[')
    const [piped, forced] = await Promise.all([
      runInside(identifications, environment),
      runInside(identifications, { ...environment, FORCE_COLOR: '1' }),
    ])
    expect(piped.out).not.toContain('\u001b[')
    expect(forced.out).toContain(bold)
  })

  test('goes through $PAGER when it is longer than the screen', async () => {
    const pager = join(cwd, 'pager')
    await writeFile(pager, `#!/bin/sh\nprintf 'LESS=%s\\n' "$LESS" > ${pager}.seen; cat >> ${pager}.seen\n`)
    await chmod(pager, 0o700)
    const long = ['query', 'item', '--limit', '40']
    const { lines } = await shown([...long, '--quiet'], { PAGER: pager })
    expect(lines).toEqual([''])
    const seen = await readFile(`${pager}.seen`, 'utf8')
    expect(seen).toMatch(/^LESS=FRX\n/)
    expect(seen.trimEnd().split('\n')).toHaveLength(43)
    await writeFile(`${pager}.seen`, 'nothing')
    await shown(['query', 'item', '--limit', '10'], { PAGER: pager })
    await runInside(long, { ...environment, PAGER: pager })
    expect(await readFile(`${pager}.seen`, 'utf8')).toBe('nothing')
  })

  test('is shown at once when the pager does not exist, or ends early', async () => {
    const long = ['query', 'item', '--limit', '40', '--quiet']
    const { lines } = await shown(long, { PAGER: 'no-such-pager -x' })
    expect(lines[0]).toContain('no-such-pager')
    expect(lines).toHaveLength(43)
    expect((await shown(long, { PAGER: 'true' })).lines).toEqual([''])
  })
})

describe('a table in a pipe', () => {
  test('is whole, also where $COLUMNS is exported; JSON and CSV have every digit', async () => {
    const narrow = { ...environment, COLUMNS: '40' }
    const { out } = await runInside(identifications, narrow)
    expect(out).not.toContain('…')
    const [json, csv] = await Promise.all([
      runInside([...identifications, '--json'], narrow),
      runInside([...identifications, '--csv'], narrow),
    ])
    expect(JSON.parse(json.out)[0].raw).toBeGreaterThanOrEqual(5_664_000_000)
    expect(csv.out).toMatch(/,56640000\d\d,/)
  })
})
