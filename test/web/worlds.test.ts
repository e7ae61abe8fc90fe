import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { playerId } from '../support/guild-answers.ts'
import { bothKinds } from '../support/postgres.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'

describe.each(bothKinds)('the pages of worlds, players and records on the %s database', (kind) => {
  const web = webWorld(kind, liveWholeWorld)
  const pageOf = async (path: string) => {
    const { ask } = await web.served()
    const { status, text } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    return parseHTML(text).document
  }
  type Part = Awaited<ReturnType<typeof pageOf>>
  const rowsOf = (page: Part, figure: string) =>
    [...page.querySelectorAll(`#${figure} tbody tr`)].map((row) => [...row.children].map((cell) => cell.textContent))

  test('have a table of the worlds with players, uptime and a small picture, which a heading sorts', async () => {
    const page = await pageOf('/worlds')
    expect(page.querySelector('#world-list h3')?.textContent).toMatch(
      /^2 worlds up at 1 Jun, \d\d:\d\d, with 1 listed player$/,
    )
    const rows = rowsOf(page, 'world-list')
    expect(rows.map(([world]) => world)).toEqual(['EU1', 'EU2'])
    for (const [, , , since, uptime] of rows) {
      expect(since).toMatch(/^2026-06-01 /)
      expect(uptime).toMatch(/^\d+ hours$/)
    }
    const small = [...page.querySelectorAll('#world-list .spark')]
    expect(small.map((one) => one.getAttribute('aria-label'))).toEqual(
      ['EU1', 'EU2'].map((world) => `Players on ${world} over the period`),
    )
    for (const one of small) expect(one.querySelectorAll('[fill="url(#unknown)"]').length).toBeGreaterThan(0)
    const sorted = await pageOf('/worlds?sort=-world')
    expect(rowsOf(sorted, 'world-list').map(([world]) => world)).toEqual(['EU2', 'EU1'])
  })

  test('have the most of a day, a week and all time, and the hours of each world last', async () => {
    const page = await pageOf('/worlds')
    const tiles = [...page.querySelectorAll('#peaks li')].map((one) => one.textContent?.trim())
    expect(tiles.map((one) => one?.replace(/, on .*/, ''))).toEqual(
      ['a day', 'a week', 'all time'].map((span) => `3 players at once, the most of ${span}`),
    )
    expect([...page.querySelectorAll('main > section')].map(({ id }) => id)).toEqual([
      'now',
      'online',
      'lifecycle',
      'hours',
    ])
    const { ask } = await web.served()
    const empty = await ask('/worlds?from=2026-05-01T00:00Z&to=2026-05-02T00:00Z')
    expect(empty.status).toBe(200)
  })

  test('draw the days of a player by hours: listed, not listed, and hatched where it was not watched', async () => {
    const page = await pageOf(`/players/${playerId(1)}`)
    const days = [...page.querySelectorAll('#days .days li:not(.axis)')]
    expect(days.length).toBe(rowsOf(page, 'days').length)
    const [first] = days
    expect(first?.querySelector('svg')?.getAttribute('aria-label')).toMatch(/^1 Jun: listed \d\d:\d\d to \d\d:\d\d/)
    expect(first?.querySelectorAll('[fill="var(--g4)"]').length).toBeGreaterThan(0)
    expect(first?.querySelectorAll('[fill="url(#unknown)"]').length).toBeGreaterThan(1)
    expect(page.querySelectorAll('main img').length).toBe(0)
  })

  test('hatch all days of one who hides', async () => {
    const page = await pageOf(`/players/${playerId(3)}`)
    const [first] = [...page.querySelectorAll('#days .days li:not(.axis)')]
    if (!first) throw new Error('no day is drawn')
    const hatched = [...first.querySelectorAll('[fill="url(#unknown)"]')]
    expect(hatched.some((one) => Number(one.getAttribute('width')) >= 600)).toBe(true)
  })

  test('have the records of the map, with what is certain of each, which gains and captures lead to', async () => {
    const page = await pageOf('/records')
    const rows = rowsOf(page, 'record-list')
    expect(rows.map(([record]) => record)).toEqual([
      'largest empire',
      'longest confirmed hold',
      'most captures in a day',
      'most contested place',
    ])
    for (const [, , , howMuch] of rows) expect(howMuch).toMatch(/^(at least )?\d+ (territor|hour|minute|capture)/)
    expect(rows.flat()).toContain(hostile.guild)
    for (const path of ['/captures', '/gained'])
      expect((await pageOf(path)).querySelector('.at a[href="/records"]')).not.toBeNull()
  })
})

describe('the page of worlds over a year', () => {
  const web = webWorld('server', liveWholeWorld)

  test('reads averages of hours, draws a bounded number of cells, and says the most of all time', async () => {
    const { db } = web.world
    await db.query(
      `insert into game.world_hour (world, hour, online_avg, online_max)
       select 'WC' || one, hour, one, one + 1 from generate_series(1, 30) one,
              generate_series(timestamptz '2025-06-01Z', '2026-05-31 23:00Z', interval '1 hour') hour`,
    )
    await db.query(
      `insert into game.online_hour (hour, total_avg, total_max, total_seconds, hidden_avg, hidden_seconds)
       select hour, 800, case when hour = '2026-01-02 12:00Z' then 999 else 900 end, 3600, 1, 3600
         from generate_series(timestamptz '2025-06-01Z', '2026-05-31 23:00Z', interval '1 hour') hour`,
    )
    for (const table of ['game.world_sample', 'game.online_sample'])
      await db.query(
        `insert into sync.tier (sample_table, fine_since, averaged_until, checked_at) values ($1, '2026-06-01Z', '2026-06-01Z', '2026-06-01Z')
         on conflict (sample_table) do update set fine_since = excluded.fine_since, averaged_until = excluded.averaged_until`,
        [table],
      )
    await db.query('analyze game.world_hour, game.online_hour')
    const { ask } = await web.served()
    const { status, text } = await ask('/worlds?from=2025-06-01T00:17Z&to=2026-06-01T00:00Z')
    expect(status).toBe(200)
    // What a person reads on a phone, however long the period.
    expect(Buffer.byteLength(text)).toBeLessThan(300_000)
    const page = parseHTML(text).document
    expect(page.querySelector('#worlds h3')?.textContent).toMatch(/^WC30 was the fullest world: 31 players, around /)
    // A long period begins at a full hour: averages of full hours are read.
    expect(page.querySelector('input[name=from]')?.getAttribute('value')).toBe('2025-06-01T00:00Z')
    expect(page.querySelector('#online-total h3')?.textContent).toMatch(/^The most seen at once: 999 players/)
    const tiles = [...page.querySelectorAll('#peaks li')].map((one) => one.textContent?.trim())
    expect(tiles.at(-1)).toMatch(/^999 players at once, the most of all time, on 2 Jan, 12:00/)
    expect(page.querySelectorAll('#worlds svg rect').length).toBeLessThan(4000)
  })

  test('leads to a shorter period where the one that is wanted takes too long', async () => {
    const { ask } = await web.served({ timeoutMs: 1 })
    const { status, text } = await ask('/worlds?from=2025-06-01T00:00Z&to=2026-06-01T00:00Z')
    expect(status).toBe(503)
    const page = parseHTML(text).document
    expect(page.querySelector('main p')?.textContent).toContain('choose a shorter period')
    expect(page.querySelector('main li a')?.getAttribute('href')).toBe('/worlds')
    // Without one, it is the database that is slow.
    const usual = parseHTML((await ask('/worlds')).text).document
    expect(usual.querySelector('main p')?.textContent).not.toContain('shorter')
  })
})
