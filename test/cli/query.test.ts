import { beforeAll, describe, expect, test } from 'vitest'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { topics } from '../../src/questions/catalogue.ts'
import { describedColumns } from '../../src/questions/function-columns.ts'
import { buildProgram, type Environment, mainFile, startCommand } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { kindsOfLongTests, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'

const count = 3000
const weapons = Array.from({ length: count }, (_, index) =>
  item(`Bow ${index}`, {
    type: 'weapon',
    lore: `"long", ${'story '.repeat(30)}`,
    identifications: { rawStrength: index },
  }),
)
const recipe = {
  internalName: 'Boots1-3',
  type: 'boots',
  skill: 'tailoring',
  materials: [{ item: 'Bow 1', amount: 2 }],
}

beforeAll(buildProgram)

describe.each(kindsOfLongTests)('wynnsync query and status on the %s database', (kind) => {
  let environment: Environment
  const query = (...args: string[]) => runInside(['query', ...args], environment)

  beforeAll(async () => {
    environment =
      kind === 'server' ? { DATABASE_URL: await testDatabaseUrl() } : { WYNNSYNC_DATA_DIR: await testDataDir() }
    const api = await servedApi()
    serveItems(api, weapons)
    api.setAnswer('/item/recipe/database', () => ({ body: [recipe] }))
    const { code } = await runInside(['sync', 'items', 'recipes', '--base-url', api.url], environment)
    expect(code).toBe(0)
    await api.close()
  })

  test('lists what can be asked', async () => {
    const { code, out } = await query('--list')
    expect(code).toBe(0)
    expect(out).toMatch(
      /^1\. Who held a territory at an instant\?\n {2}territory_owner_at <territory> yesterday +Who held/,
    )
    for (let number = 1; number <= 15; number++) expect(out).toMatch(new RegExp(`^${number}\\. `, 'm'))
    const names = [...out.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)
    expect(names).toEqual(expect.arrayContaining(topics.flatMap((topic) => topic.names)))
    expect(names).not.toContain('online_known')
    const all = await query('--list', '--all')
    expect(all.out).toMatch(/^Parts of the views and functions above\n(?: .*\n)* {2}online_known /m)
    const { questions } = JSON.parse((await query('--list', '--json')).out)
    expect(questions.map((one: { name: string }) => one.name)).toEqual(names)
  })

  test('explains what the columns mean, and where they come from', async () => {
    const { code, out } = await query('item_change', '--explain')
    expect(code).toBe(0)
    // An item of this database, so that the example has an answer.
    const [, shown = ''] = /^example: wynnsync query item_change (.+)$/m.exec(out) ?? []
    const known = JSON.parse((await query('item', '--json')).out).map(
      (one: { internal_name: string }) => one.internal_name,
    )
    expect(known).toContain(shown.replaceAll('"', ''))
    // A recipe is not called like an item.
    const { out: list } = await query('--list')
    for (const name of ['recipe', 'recipe_change']) expect(list).toMatch(new RegExp(`^ {2}${name} Boots1-3  `, 'm'))
    expect(list).toMatch(/^ {2}recipe_at Boots1-3 yesterday {2}/m)
    expect(list).not.toMatch(/Ash Plank|GLD|WC1|Ragged Coast|PlayerName/)
    expect(out).toMatch(/^changed_at +timestamp with time zone +\S/m)
    expect(out).toMatch(/^from: (?:.*, )?game\.field_change/m)
    const playtime = jsonSchemas['query-explain'].parse(
      JSON.parse((await query('player_playtime', '--explain', '--json')).out),
    )
    expect(playtime).toMatchObject({ kind: 'function', example: 'wynnsync query player_playtime <player>' })
    expect((await query('player_session', '--explain')).out).toMatch(
      /^seconds_estimate +double precision +From login_/m,
    )
    // Through the views between.
    expect(playtime.madeFrom).toContain('game.player_listing')
    expect((await query('world_peak', '--explain')).out).toMatch(/^online_max +\w+ +Players, the most at once\.$/m)
  })

  test('says of every column of every question what it means, and of nothing that is no column', async () => {
    const { out } = await query('--list', '--json')
    const { questions } = jsonSchemas['query-list'].parse(JSON.parse(out))
    const columns = questions.flatMap(({ name, columns }) => columns.map((column) => ({ question: name, ...column })))
    expect(columns.filter(({ comment }) => !comment).map((one) => `${one.question}.${one.name}`)).toEqual([])
    const names = new Set(questions.flatMap((one) => one.columns.flatMap(({ name }) => [name, `${one.name}.${name}`])))
    expect(describedColumns().filter((name) => !names.has(name))).toEqual([])
  })

  test('has no answer before the first sync, and says why', async () => {
    const empty =
      kind === 'server' ? { DATABASE_URL: await testDatabaseUrl() } : { WYNNSYNC_DATA_DIR: await testDataDir() }
    const { code, out, err } = await runInside(['query', 'world_peak', '-7d', 'now'], empty)
    expect([code, out]).toEqual([0, '(no rows)\n'])
    expect(err).toContain('nothing was synced into this database yet')
  })

  test('shows all rows in a pipe, or as many as are wanted', async () => {
    const whole = await query('item_identification')
    expect([whole.code, whole.err]).toEqual([0, ''])
    expect(whole.out.trimEnd().split('\n')).toHaveLength(count + 1)
    const some = await query('item_identification', 'identification=rawStrength', '--limit', '2')
    expect(some.out.trimEnd().split('\n')).toHaveLength(3)
    expect(some.err).toContain('the first 2 rows; --limit 0 for all')
    for (const named of ['internal_name=Bow 7', 'Bow 7'])
      expect((await query('item', named)).out.split('\n')[1]).toMatch(/^Bow 7 /)
    const one = await query('item', 'Bow 7')
    expect(one.err).toBe('')
    expect((await query('item_change')).out).toBe('(no rows)\n')
  })

  test('gives all rows as CSV, quoted where they must be', async () => {
    const { code, out, err } = await query('item', '--csv')
    expect([code, err]).toEqual([0, ''])
    const lines = out.trimEnd().split('\r\n')
    expect(lines).toHaveLength(count + 1)
    expect(lines[0]).toMatch(/^internal_name,display_name,type,/)
    expect(lines[1]).toContain('"""long"", story ')
  })

  test('gives all rows as JSON, a line each, the same as in one document', async () => {
    const { code, out } = await query('item_identification', '--ndjson')
    const whole = await query('item_identification', '--json')
    expect(code).toBe(0)
    const lines = out.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(whole.out))
    expect((await query('item_change', '--ndjson')).out).toBe('')
  })

  test('gives all rows as one JSON document', async () => {
    const { code, out } = await query('item_identification', '--json')
    expect(code).toBe(0)
    const rows = JSON.parse(out)
    expect(rows).toHaveLength(count)
    expect(rows[0]).toMatchObject({
      identification: 'rawStrength',
      is_fixed: true,
      observed_at: '2026-06-01T10:00:00.000Z',
    })
  })

  test('asks functions with arguments in their order', async () => {
    const using = await query('recipes_using', 'Bow 1', '--json')
    expect(JSON.parse(using.out)).toMatchObject([{ internal_name: 'Boots1-3', amount: 2 }])
    const at = await query('item_at', 'Bow 3', '2026-06-01T10:00:00Z', '--json')
    expect(JSON.parse(at.out)).toEqual([{ item_at: weapons[3] }])
    const before = await query('item_at', 'Bow 3', '2026-06-01T09:00:00Z', '--json')
    expect(JSON.parse(before.out)).toEqual([{ item_at: null }])
    const statement = await query('item', 'type=weapon', '--sql', '--limit', '3')
    expect(statement.out).toBe("select * from analytics.item where type = 'weapon' limit 3;\n")
  })

  test('filters, sorts and selects, as the read API does', async () => {
    const strong = await query(
      'item_identification',
      'identification=rawStrength',
      'raw=gte.2997',
      'type=in.(weapon,armour)',
      'order=raw.desc',
      'select=internal_name,raw',
      '--json',
    )
    expect([strong.err, JSON.parse(strong.out)]).toEqual([
      '',
      [2999, 2998, 2997].map((raw) => ({ internal_name: `Bow ${raw}`, raw })),
    ])
    const csv = await query(
      'item',
      'internal_name=like.*299?',
      'internal_name=like.*2_9_',
      'select=internal_name',
      '--csv',
    )
    expect(csv.out).toBe('internal_name\r\n')
    const using = await query('recipes_using', 'Bow 1', 'amount=gt.1', 'select=internal_name', '--json')
    expect(JSON.parse(using.out)).toEqual([{ internal_name: 'Boots1-3' }])
    expect((await query('recipes_using', 'Bow 1', 'amount=not.gt.1', '--json')).out).toBe('[]\n')
    const statement = await query('item', 'level=gte.80', 'tier=in.(a,"b\'c")', 'order=level.desc.nullslast', '--sql')
    expect(statement.out).toBe(
      "select * from analytics.item where level >= '80'::integer and tier in ('a', 'b''c') order by level desc nulls last;\n",
    )
  })

  test.each([
    [['item', 'level=gte.high'], 'level must be a whole number such as 7, got high'],
    [['item', 'order=colour'], 'item has no column colour; there are: internal_name, '],
    [['item', 'select=colour'], 'item has no column colour; there are: internal_name, '],
    [['item', 'select=level', 'select=tier'], 'select is given twice'],
    [['item_at', 'Bow 3', 'colour=red'], 'ask: wynnsync query item_at <internal_name> [at]'],
    [['itme'], 'no question is called itme; did you mean item?'],
    [['item', 'colour=red'], 'columns: internal_name, '],
    [['item', 'Bo'], 'item not found: Bo; did you mean Bow 0, Bow 1 or Bow 2?'],
    [
      ['item', 'Bow 7', 'red'],
      'ask: wynnsync query item [internal_name] [column=value ...]\nof its rows: column=value, column=gte.80, ',
    ],
    [['item_at'], 'ask: wynnsync query item_at <internal_name> [at]'],
    [['item_at', 'a', 'b', 'c'], 'ask: wynnsync query item_at <internal_name> [at]'],
    [['item', '--limit', 'few'], '--limit must be a whole number'],
    [['item_at', 'Bow 3', 'yesterweek'], 'yesterweek'],
    [['member_activity', 'Nobody'], 'guild not found: Nobody'],
    [['item', '--fast'], "unknown option '--fast'"],
    [['item', '--limti', '3'], "unknown option '--limti'; did you mean --limit or --list?"],
  ])('ends with 2 for %j and says how to ask', async (args, said) => {
    const { code, out, err } = await query(...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(said)
  })

  test('does not mind a reader that has seen enough', async () => {
    const command = `set -o pipefail; "${process.execPath}" "${mainFile}" query item --csv | head -n 1`
    const { code, out, err } = await startCommand('bash', ['-c', command], environment).finished
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^internal_name,/)
  })

  test('shows in status where every resource stands, as text and as JSON', async () => {
    const { code, out } = await runInside(['status'], environment)
    expect(code).toBe(0)
    expect(out).toMatch(/^database \S+, [\d.]+ MB\n\nresource +last run/)
    expect(out).toMatch(/^items +ok .* 3000 +0$/m)
    expect(out).toMatch(/^item-sets +never +never +never +no schedule +no +never +0 +0$/m)
    expect(out).toMatch(/^guest +\S.* \d+ s$/m)
    // A table that Postgres has not looked at yet has no estimate, rather than none.
    expect(out).toMatch(/^game\.item .* (3000|not estimated yet)$/m)
    const json = JSON.parse((await runInside(['status', '--json'], environment)).out)
    expect(Object.keys(json)).toEqual([
      'database',
      'resources',
      'budgets',
      'gaps',
      'clocks',
      'unsent',
      'failures',
      'restrictions',
      'size',
      'tiers',
      'locks',
      'watches',
      'verification',
      'lake',
    ])
    expect(json.resources.at(-1)).toMatchObject({ resource: 'players', nameless: 0 })
    expect(json.resources[0]).toMatchObject({
      resource: 'items',
      status: 'ok',
      living: count,
      observedAt: '2026-06-01T10:00:00.000Z',
    })
    expect(json.resources[2]).toMatchObject({ resource: 'item-sets', status: null, observedAt: null })
  })

  test('migrates what is migrated already without a change', async () => {
    expect(JSON.parse((await runInside(['migrate', '--json'], environment)).out)).toMatchObject({ applied: [] })
  })
})
