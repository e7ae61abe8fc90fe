import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'

const failed = '3f2a91c0-0000-4000-8000-000000000001'
const ofPlayer = '3f2a91c1-0000-4000-8000-000000000002'

describe('the page of the status', () => {
  const web = webWorld('server', async (world) => {
    const { liveWholeWorld } = await import('../support/whole-world.ts')
    await liveWholeWorld(world)
    const add = (run: string, resource: string, error: string) =>
      world.db.query(
        `insert into sync.run (run_id, resource, status, started_at, finished_at, error, program)
         values ($1, $2, 'failed', '2026-06-01T20:59:00Z', '2026-06-01T20:59:02Z', $3, 'test')`,
        [run, resource, error],
      )
    await add(failed, items.name, `${hostile.item} was not JSON`)
    await add(ofPlayer, 'players', 'Player7 was not found')
  })

  async function pageOf(path: string) {
    const { ask } = await web.served()
    const { status, text, headers } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    return { text, headers, document: parseHTML(text).document }
  }

  test('has one row for each resource, the worst first, with bars, and is small', async () => {
    const { text, document } = await pageOf('/status')
    const rows = [...document.querySelectorAll('.resources li')]
    const resources = await web.world.db.query('select from analytics.freshness')
    expect(rows.length).toBe(resources.length)
    const states = rows.map((row) => row.className)
    const order = ['silent', 'late', 'unscheduled', 'fresh']
    expect(states).toContain('late')
    expect(states.indexOf('late')).toBeLessThan(states.indexOf('unscheduled'))
    expect(states.filter((state) => !order.includes(state))).toEqual([])
    expect(rows.every((row) => row.querySelector('svg.bars > rect'))).toBe(true)
    expect(document.querySelectorAll('svg.bars path').length).toBeGreaterThan(2)
    expect(text.length).toBeLessThan(40_000)
  })

  test('says the last error in words, with its run, which is a page of its own', async () => {
    const { document } = await pageOf('/status')
    const row = [...document.querySelectorAll('.resources li')].find((one) => one.textContent?.startsWith('items'))
    expect(row?.querySelector('p')?.textContent).toBe(`failed on 1 Jun, 20:59: ${hostile.item} was not JSON`)
    expect(row?.querySelector('p a')?.getAttribute('href')).toBe(`/runs/${failed.slice(0, 13)}`)
    const run = await pageOf(`/runs/${failed}`)
    expect(run.document.querySelector('h1')?.textContent).toBe('items: failed on 1 Jun, 20:59')
    expect(run.document.querySelector('#facts')?.textContent).toContain(`${hostile.item} was not JSON`)
    expect(run.document.querySelectorAll('[onload]').length).toBe(0)
  })

  test('lists the ledger by period, resource and failure, and every run of the list has a page', async () => {
    const all = await pageOf('/runs')
    expect(all.document.querySelectorAll('#runs tbody tr').length).toBeGreaterThan(10)
    const one = await pageOf('/runs?resource=items&failed=yes')
    expect(one.document.querySelector('h1')?.textContent).toMatch(/^1 run of items that failed, /)
    for (const link of all.document.querySelectorAll('#runs td a')) await pageOf(String(link.getAttribute('href')))
    expect((await pageOf('/runs?from=2026-05-01&to=2026-05-02')).text).toContain('No run began in this period')
    const { ask } = await web.served()
    for (const path of ['/runs/none', '/runs/3f2a', '/runs/%00', `/runs/${'f'.repeat(40)}`])
      expect([path, (await ask(path)).status]).toEqual([path, 404])
  })

  test('names no player of a run', async () => {
    for (const path of ['/status', '/runs', `/runs/${ofPlayer}`]) {
      const { text } = await pageOf(path)
      expect([path, /Player\d/.test(text)]).toEqual([path, false])
      expect([path, text.includes('wynnsync runs show')]).toEqual([path, true])
    }
  })

  test('is small when every resource fails with a long reason and each bar differs from the next', async () => {
    const { db } = web.world
    const names = resources.map(({ name }) => name)
    await db.query(
      `insert into sync.run (run_id, resource, status, started_at, finished_at, error, program)
       select gen_random_uuid(), resource, 'failed', at, at, repeat('<&" \u00e9\u4e00', 500), 'test'
         from unnest($1::text[]) resource cross join (select timestamptz '2026-06-01T21:30Z' as at) moment`,
      [names],
    )
    // Each bar, of a day, differs from those beside it.
    await db.query(
      `insert into sync.run (run_id, resource, status, observed_at, started_at, finished_at, program)
       select gen_random_uuid(), resource, 'ok', at, at, at, 'test'
         from unnest($1::text[]) resource cross join generate_series(timestamptz '2026-03-01Z', '2026-05-31Z', interval '6 hours') at
        where extract(doy from at)::int % 2 = 0 or extract(hour from at) = 6`,
      [names],
    )
    for (const resource of names)
      await setExpectedInterval(db, {
        resource,
        everySeconds: 21_600,
        setBy: 'sync',
        at: new Date('2026-02-28T00:00Z'),
      })
    const { text } = await pageOf('/status')
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(40_000)
  })
})
