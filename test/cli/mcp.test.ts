import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { topics } from '../../src/questions/catalogue.ts'
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

test('wynnsync mcp has a few read-only tools and one for every question, and answers with units and freshness', async () => {
  const client = await connected()
  expect(client.getInstructions()).toMatch(/UTC.*null is unknown.*coverage/s)
  const { tools } = await client.listTools()
  const names = tools.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['search', 'who_holds', 'guild_overview', 'describe', 'ask']))
  expect(names.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([])
  expect(tools.find(({ name }) => name === 'who_holds')).toMatchObject({
    annotations: { readOnlyHint: true },
    inputSchema: { required: ['territory'] },
  })
  const asked = tools.find(({ name }) => name === 'ask')?.description
  for (const { names: questions } of topics) for (const name of questions) expect(asked).toContain(name)
  const rows = await call(client, 'ask', {
    question: 'raid_reward_history',
    filters: { reward_type: 'ITEM' },
    limit: 5,
  })
  expect(rows).toMatchObject({ isError: false, question: 'raid_reward_history', rows: [], next: null })
  expect(await call(client, 'ask', { question: 'pg_class' })).toMatchObject({
    isError: true,
    problem: 'unknown-question',
  })
  const holds = await call(client, 'ask', { question: 'territory_hold', limit: 5 })
  expect(holds).toMatchObject({ isError: false, rows: [], next: null, coverage: [], freshness: [] })
  expect(holds.columns).toContain('held_from')
  expect(holds.units).toMatchObject({ held_for: expect.stringMatching(/^length of time/) })
  const meaning = await call(client, 'describe', { question: 'territory_hold' })
  expect(meaning.columns).toContainEqual(['held_from', expect.any(String), expect.stringContaining('captured')])
  expect(await call(client, 'item', { colour: 'red' })).toMatchObject({ isError: true, problem: 'bad-argument' })
  expect(await call(client, 'fly')).toMatchObject({ isError: true, problem: 'unknown-question' })
})

test('wynnsync mcp --no-people has none about single players', async () => {
  const client = await connected('--no-people')
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name).filter((name) => /player|contributions|gains/.test(name))).toEqual([])
  expect(tools.find(({ name }) => name === 'ask')?.description).not.toMatch(/player_|member_a|guild_member|timeline/)
  expect(await call(client, 'ask', { question: 'player' })).toMatchObject({
    isError: true,
    problem: 'people-not-shown',
  })
})

test('what is asked through a pipe that ends at once is answered', async () => {
  const cwd = inject('runFolder')
  const env = { PATH: process.env.PATH ?? '', HOME: cwd, DATABASE_URL: await testDatabaseUrl() }
  const child = spawn(process.execPath, [mainFile, 'mcp'], { env, cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const clientInfo = { name: 'test', version: '1' }
  const messages = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
    { id: 3, method: 'tools/call', params: { name: 'guild_overview', arguments: { guild: 'Dawn' } } },
    { id: 4, method: 'tools/call', params: { name: 'ask', arguments: { question: 'territory_hold' } } },
  ]
  child.stdin.end(messages.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join(''))
  const lines = (await text(child.stdout)).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).id).sort()).toEqual([1, 2, 3, 4])
  expect(await ended).toBe(0)
})
