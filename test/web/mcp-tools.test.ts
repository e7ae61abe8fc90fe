import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { explained } from '../../src/cli/commands/query/query-command.ts'
import { sourcesOf } from '../../src/questions/asking/sources.ts'
import { topics } from '../../src/questions/catalogue.ts'
import { readQuestions } from '../../src/questions/questions.ts'
import { resources } from '../../src/resources/index.ts'
import { nameFinders as finders } from '../../src/resources/key-names.ts'
import { tablesOf } from '../../src/sync/replay/replayed-tables.ts'
import { type Api, servedQuestions } from '../../src/web/api/routes.ts'
import { answerBounds, callTool, respondMcp, toolsOf } from '../../src/web/mcp/mcp-server.ts'
import { openReader } from '../../src/web/reading.ts'
import { guildId } from '../support/guild-answers.ts'
import { bothKinds } from '../support/postgres.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'

describe.each(bothKinds)('tools of assistants on the %s database', (kind) => {
  const lived = webWorld(kind)
  let context: Api
  beforeAll(async () => {
    const { db, clock } = lived.world
    const reader = await openReader(db, 5000)
    context = { reader, finders, clock, version: '1', served: servedQuestions(reader, clock, true) }
  })
  const call = async (name: string, given: object = {}) => JSON.parse(await callTool(context, name, given))
  const ask = async (question: string, given: object = {}) => await call('ask', { question, ...given })
  /** The rows of an answer as objects. */
  const rowsOf = ({ columns, rows }: { columns: string[]; rows: unknown[][] }) =>
    rows.map((row) => Object.fromEntries(columns.map((name, place) => [name, row[place]])))

  test('are few, and their list is short', async () => {
    const tools = await toolsOf(context)
    expect(tools.map(({ name }) => name)).toEqual([
      'search',
      'who_holds',
      'map',
      'captures',
      'guild_overview',
      'contributions',
      'player_overview',
      'item',
      'item_changes',
      'gains',
      'online',
      'pool',
      'coverage',
      'describe',
      'ask',
    ])
    const tokens = Buffer.byteLength(JSON.stringify(tools)) / 4
    expect(tokens).toBeLessThan(4000)
    for (const { names } of topics) for (const name of names) expect(tools.at(-1)?.description).toContain(name)
  })

  test('each have an answer of at most 20 kB', async () => {
    const given: Record<string, object> = {
      search: { name: 'o' },
      who_holds: { territory: 'Oak', at: '2026-06-01T10:45Z' },
      item: { name: hostile.item },
      guild_overview: { guild: hostile.prefix },
      contributions: { guild: guildId('a') },
      player_overview: { player: '00000000-0000-4000-8000-000000000001' },
      gains: { kind: 'guild', counter: 'wars', entity: guildId('a') },
      coverage: { resource: 'items' },
    }
    for (const { name } of await toolsOf(context)) {
      if (name === 'ask') continue
      const text = await callTool(context, name, given[name] ?? {})
      expect([name, Buffer.byteLength(text) <= answerBounds.bytes]).toEqual([name, true])
      const { answers = [] } = JSON.parse(text) as { answers?: { question: string }[] }
      expect([name, answers.length]).toEqual([
        name,
        { search: 4, guild_overview: 3, player_overview: 4, item: 2, online: 2, coverage: 2 }[name] ?? 0,
      ])
    }
    const [held] = rowsOf(await call('who_holds', { territory: 'Oak', at: '2026-06-01T10:45Z' }))
    expect(held).toMatchObject({ territory: 'Oak', guild_uuid: guildId('b') })
    const found = (await call('search', { name: '<SVG' })).answers.flatMap(rowsOf)
    expect(found).toEqual([expect.objectContaining({ display_name: hostile.item })])
    const captures = await call('captures', { by_guild: guildId('a'), from_time: '-30d' })
    expect(captures.rows.length).toBeGreaterThan(0)
    for (const row of rowsOf(captures)) expect(row.to_guild_uuid).toBe(guildId('a'))
  })

  test('walk all rows by what next says, 25 at a time and never more bytes than 20 kB', async () => {
    const { rows } = JSON.parse((await (await lived.served()).ask('/api/v1/territory_hold_history?limit=10000')).text)
    for (const limit of [undefined, 1, 200]) {
      const walked: unknown[] = []
      let next: object | null = { question: 'territory_hold_history', ...(limit && { limit }) }
      while (next) {
        const text = await callTool(context, 'ask', next)
        const page: { columns: string[]; rows: unknown[][]; next: object | null } = JSON.parse(text)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(answerBounds.bytes)
        expect(page.rows.length).toBeLessThanOrEqual(limit ?? answerBounds.usual)
        walked.push(...rowsOf(page).map((row) => JSON.stringify(row).slice(0, 150)))
        next = page.next
      }
      expect(walked).toEqual(rows.map((row: object) => JSON.stringify(row).slice(0, 150)))
    }
  })

  test('are asked with arguments, filters, order and columns', async () => {
    const asked = await ask('territory_capture', {
      filters: { captured_at: ['gte.2026-06-01T10:00Z', 'lt.2026-06-02T00:00Z'], territory: 'in.(Oak,Elm)' },
      order: 'captured_at.desc',
      select: 'territory,captured_at',
      limit: 2,
    })
    expect(asked.columns).toEqual(['territory', 'captured_at'])
    expect(asked.rows.length).toBeGreaterThan(0)
    const held = await ask('map_at', { arguments: { at: '2026-06-01T10:45Z' }, filters: { guild_uuid: 'not.is.null' } })
    expect(rowsOf(held).map(({ territory }) => territory)).toEqual(['Elm', 'Oak'])
    const [member] = rowsOf(await ask('guild_member')).filter(
      ({ restricted }) => Array.isArray(restricted) && restricted.length > 0,
    )
    const same = await ask('guild_member', { filters: { restricted: member?.restricted } })
    expect(rowsOf(same)).toContainEqual(member)
    await expect(ask('territory_owner_at', { arguments: { territory: ['Oak', 'Elm'] } })).rejects.toThrow(
      'takes one value',
    )
    await expect(ask('territory_capture', { filters: { territory: { name: 'Oak' } } })).rejects.toThrow('not an object')
    await expect(ask('guild_territory_count', { arguments: { step: '1 second' } })).rejects.toThrow('step must be')
    await expect(ask('territory_capture', { territory: 'Oak' })).rejects.toThrow('ask has no argument territory')
    await expect(call('map', { colour: 'red' })).rejects.toThrow('map has no argument colour')
    await expect(call('who_holds')).rejects.toThrow('who_holds needs the argument territory')
    await expect(ask('territory_hols')).rejects.toMatchObject({
      details: { similar: expect.arrayContaining(['territory_hold']) },
    })
  })

  test('describe what questions mean', async () => {
    const all = await call('describe')
    expect(all.questions.length).toBeGreaterThan(50)
    expect(all.rowsOfTables).toContain('raid_reward_history')
    const one = await call('describe', { question: 'territory_hold' })
    expect(one.columns).toContainEqual(['held_from', 'instant, ISO 8601 in UTC', expect.stringContaining('captured')])
  })

  test('say how completely the resources of the question were observed in its own period', async () => {
    const period = { from_time: '2026-06-01T10:00Z', to_time: '2026-06-01T12:00Z' }
    const whole = await ask('capture_matrix', { arguments: period })
    expect(whole.coverage).toEqual([
      { resource: 'territories', from: '2026-06-01T10:00:00.000Z', to: '2026-06-01T12:00:00.000Z', coverage: 1 },
    ])
    expect(whole.freshness).toEqual([expect.objectContaining({ resource: 'territories' })])
    const partly = await ask('capture_matrix', { arguments: { ...period, to_time: '2026-06-01T17:00Z' } })
    expect(partly.coverage[0].coverage).toBeCloseTo(3 / 7, 1)
    const [blind] = (await call('map', { at: '2026-06-01T16:00Z' })).coverage
    expect(blind).toMatchObject({ from: '2026-06-01T15:00:00.000Z', to: '2026-06-01T16:00:00.000Z', coverage: 0 })
    const history = await ask('item_change')
    expect(history.coverage).toEqual([
      expect.objectContaining({ resource: 'items', from: '2026-06-01T10:00:00.000Z', coverage: expect.any(Number) }),
    ])
    expect((await ask('coverage', { arguments: { resource: 'items', ...period } })).freshness).toHaveLength(1)
    expect(await ask('freshness')).not.toHaveProperty('coverage')
  })

  test('answer a real client over HTTP, one message in a request, within the limits of the read API', async () => {
    const { url } = await lived.served({ mcp: respondMcp, requestsPerMinute: 5 })
    const client = new Client({ name: 'test', version: '1' })
    onTestFinished(() => client.close())
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)) as Parameters<Client['connect']>[0])
    expect(client.getInstructions()).toMatch(/UTC.*null is unknown.*coverage/s)
    expect((await client.listTools()).tools).toHaveLength(15)
    const { content } = await client.callTool({
      name: 'who_holds',
      arguments: { territory: 'Oak', at: '2026-06-01T10:45Z' },
    })
    const [{ text }] = content as [{ text: string }]
    expect(rowsOf(JSON.parse(text))).toEqual([expect.objectContaining({ guild_uuid: guildId('b') })])
    const post = async (body: string, headers: Record<string, string> = {}) => {
      const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
      return await fetch(`${url}/mcp`, { method: 'POST', body, headers: { ...usual, ...headers } })
    }
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    expect((await post(ping, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post(ping, { origin: url })).status).toBe(200)
    expect((await post(`[${ping},${ping}]`)).status).toBe(429)
    await lived.world.clock.sleep(60_000)
    expect((await post(`[${ping},${ping}]`)).status).toBe(400)
    expect((await post('x'.repeat(70_000))).status).toBe(400)
    expect((await post('{')).status).toBe(400)
    const read = await fetch(`${url}/mcp`)
    expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await fetch(`${(await lived.served()).url}/mcp`, { method: 'POST', body: ping })).status).toBe(405)
  })

  test('know of each question resources that fill a table it reads', async () => {
    const questions = await readQuestions(lived.world.db)
    const named = topics.flatMap(({ names }) => names).filter((name) => !/^(coverage|freshness)$/.test(name))
    for (const question of questions.filter(({ name }) => named.includes(name))) {
      const { madeFrom } = await lived.world.db.transaction((sql) => explained(sql, question))
      const sources = sourcesOf(question, [])
      expect([question.name, sources.length > 0]).toEqual([question.name, true])
      const fitting = sources.filter((source) => {
        const resource = resources.find(({ name }) => name === source)
        // Changes of all resources are in one table.
        return resource && ['game.field_change', ...tablesOf(resource)].some((table) => madeFrom.includes(table))
      })
      expect([question.name, fitting]).toEqual([question.name, sources])
    }
  })
})
