import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { topics } from '../../src/analytics/catalogue.ts'
import { buildProgram, mainFile } from '../support/cli.ts'
import { testDatabaseUrl } from '../support/postgres.ts'

beforeAll(buildProgram)

/** An assistant that starts the program. */
async function connected(...flags: string[]): Promise<Client> {
  const cwd = inject('runFolder')
  const env = { PATH: process.env.PATH ?? '', HOME: cwd, DATABASE_URL: await testDatabaseUrl() }
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(() => client.close())
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [mainFile, 'mcp', ...flags], env, cwd }),
  )
  return client
}

/** What a tool says, as JSON. */
async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const { content, isError = false } = await client.callTool({ name, arguments: given })
  const [{ text } = { text: '' }] = content as { text: string }[]
  return { isError, ...JSON.parse(text) }
}

test('wynnsync mcp has a read-only tool for each question, and answers with meanings and freshness', async () => {
  const client = await connected()
  const { tools } = await client.listTools()
  const tool = tools.find(({ name }) => name === 'territory_owner_at')
  expect(tool).toMatchObject({ annotations: { readOnlyHint: true }, inputSchema: { required: ['territory'] } })
  const names = tools.map(({ name }) => name)
  expect(names).toEqual([...topics.flatMap((topic) => topic.names), 'recorded_rows'])
  const rows = await call(client, 'recorded_rows', {
    view: 'raid_reward_history',
    where: { reward_type: 'ITEM' },
    limit: 5,
  })
  expect(rows).toMatchObject({ isError: false, question: 'raid_reward_history', rows: [], next: null })
  expect(rows.columns.reward).toMatch(/Name of the reward/)
  expect(await call(client, 'recorded_rows', { view: 'pg_class' })).toMatchObject({
    isError: true,
    problem: 'unknown-question',
  })
  expect(names.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([])
  const holds = await call(client, 'territory_hold', { limit: 5 })
  expect(holds).toMatchObject({ isError: false, rows: [], next: null, coverage: [], freshness: [] })
  expect(holds.columns.held_from).toMatch(/captured/)
  expect(holds.units).toMatchObject({
    held_from: expect.stringContaining('UTC'),
    held_for: expect.stringMatching(/^length of time/),
  })
  expect(await call(client, 'item', { colour: 'red' })).toMatchObject({ isError: true, problem: 'bad-argument' })
  expect(await call(client, 'fly')).toMatchObject({ isError: true, problem: 'unknown-question' })
})

test('wynnsync mcp --no-people has none about single players', async () => {
  const client = await connected('--no-people')
  const { tools } = await client.listTools()
  expect(tools.filter(({ name }) => /player|member_a|guild_member/.test(name))).toEqual([])
  expect(await call(client, 'player')).toMatchObject({ isError: true, problem: 'people-not-shown' })
})
