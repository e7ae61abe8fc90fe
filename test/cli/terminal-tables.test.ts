import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { formatTable } from '../../src/cli/output/table.ts'
import { buildProgram, type Environment } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { hasTerminals, onTerminal } from '../support/terminal.ts'
import { item } from '../support/world.ts'

const items = Array.from({ length: 60 }, (_, index) =>
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
    expect(narrow.lines).toContainEqual(
      expect.stringMatching(/^\(\d+ columns are not shown; see --wide, --csv or --json: \w+, /),
    )
  })

  test('is as wide as $COLUMNS says, and whole with --wide', async () => {
    const { lines } = await shown(identifications, { COLUMNS: '50' })
    expect(lines.length).toBeGreaterThan(2)
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

describe('the columns of a table on a narrow terminal', () => {
  const uuid = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`
  const rows = Array.from({ length: 3 }, (_, index) => ({
    player_uuid: uuid(index),
    username: `Somebody${index}`,
    guild_uuid: uuid(99),
    guild_name: 'Guild of a name',
    note: 'a text that says much but no more than the numbers '.repeat(2),
    is_open: true,
    since: new Date(Date.UTC(2026, 4, 1 + index)),
    until: new Date(Date.UTC(2026, 5, 1 + index)),
    observed_at: new Date(Date.UTC(2026, 6, 1)),
    playtime_hours: 1234.5 + index,
    deaths: 3,
  }))
  const headings = (list: readonly object[], width?: number) =>
    formatTable(Object.keys(list[0] ?? {}), list, { width })
      .split('\n')[0]
      ?.trim()
      .split(/ {2,}/)

  test('have no uuid beside its name, and end with the names, the numbers and the first instant', () => {
    const text = formatTable(Object.keys(rows[0] ?? {}), rows, { width: 80 })
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect(headings(rows, 80)).toEqual(['username', 'guild_name', 'note', 'since', 'playtime_hours', 'deaths'])
    expect(headings(rows, 70)).toEqual(['username', 'guild_name', 'since', 'playtime_hours', 'deaths'])
    expect(text).toContain('(5 columns are not shown; see --wide or --json: player_uuid, guild_uuid, ')
    expect(headings(rows, 300)).toEqual(Object.keys(rows[0] ?? {}).filter((name) => !name.endsWith('uuid')))
    expect(headings(rows)).toEqual(Object.keys(rows[0] ?? {}))
  })

  test('keep a uuid whole where it is all that says who is meant', () => {
    const unnamed = rows.map((row, index) => ({ ...row, username: index === 1 ? null : row.username }))
    expect(headings(unnamed, 300)).toContain('player_uuid')
    const members = rows.map(({ player_uuid, deaths }) => ({ player_uuid, deaths }))
    expect(formatTable(['player_uuid', 'deaths'], members, { width: 80 })).toContain(uuid(2))
    expect(
      headings(
        members.map((row) => ({ ...row, quality: 'exact', first: 1, second: 2 })),
        45,
      ),
    ).toEqual(['player_uuid', 'deaths'])
    const inGuild = members.map((row) => ({ guild_uuid: uuid(99), ...row, username: 'Somebody' }))
    expect(headings(inGuild, 40)).toEqual(['deaths', 'username'])
    expect(
      headings(
        members.map((row) => ({ attacker: 'A', attacker_uuid: row.player_uuid })),
        80,
      ),
    ).toEqual(['attacker'])
  })
})

describe('a table in a pipe', () => {
  test('has all rows, where a terminal has fifty and says so; the statement has the limit that the table has', async () => {
    const every = ['query', 'item_identification']
    const statement = 'select * from analytics.item_identification'
    const piped = await runInside(every, environment)
    expect(piped.out.trimEnd().split('\n')).toHaveLength(61)
    expect(piped.err).toBe('')
    const sql = await runInside([...every, '--sql'], environment)
    expect([sql.out, sql.err]).toEqual([`${statement};\n`, ''])
    if (!hasTerminals) return
    const seen = await shown(every, {}, { columns: 80, rows: 90 })
    expect(seen.lines).toContain('the first 50 rows; --limit 0 for all')
    const sqlSeen = await shown([...every, '--sql'])
    expect(sqlSeen.lines).toEqual([
      `${statement} limit 50;`,
      'limit 50 is what a terminal shows; --limit 0 leaves it out',
    ])
    expect((await shown([...every, '--sql', '--limit', '0'])).lines).toEqual([`${statement};`])
  })

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

  test('is as one that a wide terminal shows, in less than a third of the time', () => {
    const rows = Array.from({ length: 3000 }, (_, n) => ({
      name: n % 50 === 0 ? `槍 ${n}` : `Spear ${n}`,
      level: n,
      text: 'x'.repeat(n % 40),
      none: null,
      ...Object.fromEntries(Array.from({ length: 20 }, (__, column) => [`c${column}`, `${n} ${column}`])),
    }))
    const columns = Object.keys(rows[0] ?? {})
    const time = (width?: number) => {
      const began = process.cpuUsage()
      const text = formatTable(columns, rows, width === undefined ? {} : { width })
      return { text, cpu: process.cpuUsage(began).user }
    }
    time(10_000)
    const [wide, piped] = [time(10_000), time()]
    expect(piped.text).toBe(wide.text)
    expect(piped.cpu).toBeLessThan(wide.cpu / 3)
  })
})
