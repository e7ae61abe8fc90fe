import { beforeAll, describe, expect, test } from 'vitest'
import { createItemWorld, type FaultSpec } from '../../../src/sandbox/index.ts'
import { buildProgram, runProgram, startProgram } from '../../support/cli.ts'
import { runInside } from '../../support/cli-inside.ts'
import { testDataDir } from '../../support/postgres.ts'
import { servedApi } from '../../support/served.ts'

const { items, recipes, sets } = createItemWorld(1)
const few = { items: items.slice(0, 20), recipes: recipes.slice(0, 5), sets }

describe('wynnsync, while the API is at fault', () => {
  beforeAll(buildProgram, 120_000)

  async function sync(faults: FaultSpec, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const api = await servedApi({ items: few, game: { guilds: 60, players: 300 } })
    const guild = api.history().holds[0]?.guild ?? ''
    api.setFaults(faults)
    const given = args.map((arg) => (arg === 'GUILD' ? guild : arg))
    const { code, out, err } = await runInside(
      ['sync', ...given, '--json', '--base-url', api.url, '--data-dir', await testDataDir()],
      environment,
    )
    const { runs } = JSON.parse(out) as { runs: Record<string, unknown>[] }
    return { code, err, runs, done: api.faultsDone() }
  }

  test.each([
    ['no items at all', { nothing: 1 }, ['items'], 3, 'rejected'],
    ['a guild without some of its members', { 'partial-members': 1 }, ['guilds', '--guild', 'GUILD'], 3, 'partial'],
    ['an empty online list', { 'nobody-online': 1 }, ['online-players'], 3, 'rejected'],
    ['broken connections', { reset: 1 }, ['item-sets'], 75, 'failed'],
    ['nonsense in the headers', { 'odd-limit-headers': 1 }, ['item-sets'], 0, 'ok'],
  ] as const)('%s: ends with the code that says so', async (_what, faults, args, code, status) => {
    const outcome = await sync(faults, args)
    expect([outcome.code, outcome.runs.map((run) => run.status)]).toEqual([code, [status]])
    expect(outcome.done.total).toBeGreaterThan(0)
    expect(outcome.err).not.toMatch(/unhandled|at file:|at async/i)
  })

  test('a token that was revoked: goes on as a guest, says what to do and does not show it', async () => {
    const { code, runs, err } = await sync({ revoked: 1 }, ['item-sets', 'items'], { WYNNSYNC_TOKEN: 'tokenOfMine123' })
    expect([code, runs.map(({ status }) => status)]).toEqual([0, ['ok', 'ok']])
    expect(err).toMatch(/token/i)
    expect(err + JSON.stringify(runs)).not.toContain('tokenOfMine123')
  })

  test('an error full of control characters: shows none of them, and no line of its own', async () => {
    const { code, err, runs } = await sync({ 'hostile-error': 1 }, ['item-sets'])
    expect([code, runs.map(({ status }) => status)]).toEqual([75, ['failed']])
    expect(err).toContain('\\u001b[2J')
    expect(err).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|^wynnsync: all is well/mu)
  })

  test('the sandbox takes a plan of faults, and names them all for one that it does not know', async () => {
    const wrong = await runProgram(['sandbox', '--port', '0', '--faults', 'sorm:0.5'])
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringMatching(/no fault is called sorm; there are: all, storm/),
    ])
    const { child, finished } = startProgram(['sandbox', '--port', '0', '--json', '--faults', 'gateway:1/item'])
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.once('data', (text: string) => resolve(JSON.parse(text).url))
      child.once('close', () => reject(new Error('the sandbox ended')))
    })
    const response = await fetch(`${url}/item/sets`)
    expect(response.status).toBeGreaterThanOrEqual(500)
    const { done } = (await (await fetch(url.replace('/v3', '/__sandbox/faults'))).json()) as { done: object }
    expect(done).toEqual({ total: 1, byFault: { gateway: { '/item/sets': 1 } } })
    child.kill('SIGTERM')
    expect((await finished).code).toBe(0)
  })
})
