import { beforeAll, expect, test } from 'vitest'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { buildProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { servedApi, serveItems } from '../support/served.ts'
import { item } from '../support/world.ts'

beforeAll(buildProgram)

const trees = ['Ash', 'Elm', 'Oak', 'Yew'].map((name) => item(name))
const hostile = '\u001b[31m\u202e<script>'

test('the ledger and the quarantine are listed, shown and tried again', async () => {
  const api = await servedApi()
  const environment = { DATABASE_URL: await testDatabaseUrl(), WYNNSYNC_BASE_URL: api.url }
  const run = async (...args: string[]) => {
    const done = await runInside(args, environment)
    return { ...done, json: args.includes('--json') && done.out !== '' ? JSON.parse(done.out) : undefined }
  }
  const sync = async (body: readonly object[]) => {
    serveItems(api, body)
    const { code } = await run('sync', 'items', '--json')
    await api.clock.moveTo(api.clock.now() + 3_600_000)
    return code
  }
  expect((await run('quarantine')).out).toBe('Nothing is in quarantine.\n')
  expect(await sync(trees)).toBe(0)
  expect(await sync([])).toBe(3)
  const bad = { ...item('Fir'), type: undefined, internalName: 'Fir', identifications: [hostile], lore: hostile }
  expect(await sync([...trees, bad, { type: 'weapon' }])).toBe(3)

  const { json } = await run('runs', '--json')
  expect(jsonSchemas.runs.parse(json).runs.map(({ status }) => status)).toEqual(['partial', 'rejected', 'ok'])
  const failed = await run('runs', 'list', 'items', '--failed', '--since', '2026-01-01T00:00Z')
  expect(failed.out.split('\n')[1]).toMatch(/ items .* rejected .* the response holds no records$/)
  expect((await run('runs', 'guilds')).out).toBe('(no rows)\n')
  expect(await run('runs', 'itmes')).toMatchObject({ code: 2, err: expect.stringContaining('did you mean items') })
  expect((await run('runs', '--limit', '1')).err).toContain('the latest 1 runs; --limit 0 for all')

  const [{ runId }] = json.runs
  const shown = await run('runs', 'show', runId.slice(0, 8), '--json')
  expect(jsonSchemas['runs-show'].parse(shown.json)).toMatchObject({
    run: { runId, status: 'partial' },
    requests: [{ request: expect.stringContaining('/item/database'), httpStatus: 200 }],
    quarantine: [
      { key: 'Fir', path: '/type' },
      { key: null, path: '/internalName' },
    ],
  })
  const text = await run('runs', 'show', runId)
  expect(text.out).toMatch(/^outcome +partial$[\s\S]*^Requests [\s\S]*^Quarantine /m)
  const rejected = await run('runs', 'show', json.runs[1].runId, '--json')
  expect(rejected.json.guards).toMatchObject([{ action: 'rejected', reason: 'the response holds no records' }])
  expect(await run('runs', 'show', '00000000')).toMatchObject({
    code: 2,
    err: expect.stringContaining('run not found'),
  })
  expect((await run('runs', 'show', 'me')).code).toBe(2)

  const held = jsonSchemas.quarantine.parse((await run('quarantine', 'list', '--json')).json).quarantine
  expect(held).toMatchObject([{ isOver: false }, { isOver: false }])
  const one = held.find(({ key }) => key === 'Fir')
  const record = await run('quarantine', 'show', one?.id ?? '', '--json')
  expect(jsonSchemas['quarantine-show'].parse(record.json)).toMatchObject({ key: 'Fir', raw: { internalName: 'Fir' } })
  const escaped = await run('quarantine', 'show', one?.id ?? '')
  expect(escaped.out).toContain('<script>')
  for (const character of ['\u001b', '\u202e']) expect(escaped.out).not.toContain(character)
  expect(await run('quarantine', 'show', '999')).toMatchObject({ code: 2, out: '' })

  // Still as bad as before; then good.
  const again = await run('quarantine', 'retry', '--json')
  expect(again.code).toBe(3)
  expect(jsonSchemas['quarantine-retry'].parse(again.json)).toMatchObject({ records: 2, over: 0 })
  await api.clock.moveTo(api.clock.now() + 3_600_000)
  serveItems(api, [...trees, item('Fir')])
  const retried = await run('quarantine', 'retry', one?.id ?? '', '--json')
  expect(retried).toMatchObject({ code: 0, json: { records: 1, over: 1, runs: [{ inserted: 1 }] } })
  expect((await run('quarantine')).out).toBe('Nothing is in quarantine.\n2 more are over; --all shows them\n')
  expect((await run('quarantine', 'list', '--all')).out).toMatch(/^\d+ +items +Fir .* over$/m)
  expect((await run('quarantine', 'retry')).out).toBe('Nothing is in quarantine.\n')
})
