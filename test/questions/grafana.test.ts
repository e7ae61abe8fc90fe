import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Database } from '../../src/db/database.ts'
import { testDatabase } from '../support/postgres.ts'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly datasource: { readonly uid: string }
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly fieldConfig: {
    readonly overrides: readonly { readonly properties: readonly { readonly id: string; readonly value: unknown }[] }[]
  }
  readonly targets: readonly { readonly rawSql: string; readonly format: string }[]
}
interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: string }[]
  }
  readonly panels: readonly Panel[]
}

const folder = new URL('../../src/questions/grafana/', import.meta.url)
const dashboards = readdirSync(new URL('dashboards/', folder)).map(
  (file) => JSON.parse(readFileSync(new URL(`dashboards/${file}`, folder), 'utf8')) as Dashboard,
)

/** What stands for variables and macros when nothing was chosen, and when something was. */
const choices = [
  {
    guild: '',
    player: '',
    territory: '',
    season: '',
    item: '',
    material: '',
    resource: '',
    counter: 'wars',
    reward: 'in a pool now',
    board: '',
    entity: '',
  },
  {
    guild: '00000000-0000-4000-8000-000000000001',
    player: "O'Nobody",
    territory: "Somebody's Gate",
    season: '30',
    item: 'Bow',
    material: 'Ash Plank',
    resource: 'territories',
    counter: 'wars',
    reward: "Nobody's Bow",
    board: 'guildLevel',
    entity: "Nobody's Guild",
  },
] as const

/** As Grafana's data source for PostgreSQL puts them in. */
function filledIn(sql: string, chosen: Readonly<Record<string, string>>, until = '2026-06-08T00:00:00Z'): string {
  return sql
    .replaceAll('$__timeFrom()', `'2026-06-01T00:00:00Z'`)
    .replaceAll('$__timeTo()', `'${until}'`)
    .replaceAll('$__interval_ms', '600000')
    .replaceAll(/\$\{(\w+):sqlstring\}/g, (_, name) => `'${(chosen[name] ?? '?').replaceAll("'", "''")}'`)
}

describe.each(dashboards)('the dashboard $title', ({ uid, panels, templating }) => {
  let db: Database
  beforeAll(async () => {
    db = await testDatabase('server')
  })
  /** As the login that Grafana gets. */
  const asReader = (sql: string) =>
    db.transaction(async (reader) => {
      await reader.query('set local role wynnsync_reader')
      return await reader.values(sql)
    })

  test.each(choices)('asks what the views and functions answer (guild: "$guild")', async (chosen) => {
    for (const { targets, title, type } of panels) {
      for (const { rawSql, format } of targets) {
        const sql = filledIn(rawSql, chosen)
        expect(sql, title).not.toMatch(/\$/)
        await expect(asReader(sql), title).resolves.toBeInstanceOf(Array)
        expect(format, title).toBe(type === 'timeseries' ? 'time_series' : 'table')
        if (type === 'timeseries') expect(sql, title).toMatch(/ as time,/)
      }
    }
  })

  test('uses the variables that it has', async () => {
    const used = new Set(
      panels.flatMap(({ targets }) =>
        targets.flatMap(({ rawSql }) => [...rawSql.matchAll(/\$\{(\w+)/g)].map(([, name]) => name)),
      ),
    )
    if (/\$\{pages\}/.test(JSON.stringify(panels))) used.add('pages')
    expect([...used].sort()).toEqual(templating.list.map(({ name }) => name).sort())
    for (const { type, query } of templating.list) {
      if (type === 'query') await expect(asReader(filledIn(query, choices[0]))).resolves.toBeInstanceOf(Array)
    }
  })

  test('asks about no instant after now, where the period ends later', async () => {
    for (const { targets, title } of panels)
      for (const { rawSql } of targets)
        await expect(asReader(filledIn(rawSql, choices[1], '2999-01-01T00:00:00Z')), title).resolves.toBeInstanceOf(
          Array,
        )
  })

  test('links to pages that there are', () => {
    const routes = readFileSync(new URL('../../src/web/pages/routes.ts', import.meta.url), 'utf8')
    for (const { fieldConfig, title } of panels)
      for (const { url } of fieldConfig.overrides.flatMap(({ properties }) =>
        properties.flatMap(({ id, value }) =>
          id === 'links' && Array.isArray(value) ? (value as { url: string }[]) : [],
        ),
      )) {
        const [, path] = /^\$\{pages\}(\/[a-z]+\/)\$\{__value\.raw:percentencode\}$/.exec(url) ?? []
        expect(routes, title).toContain(`path: '${path}:name'`)
      }
  })

  test('has panels beside each other, each with a number of its own, from the source that is provisioned', () => {
    const [source] = parse(readFileSync(new URL('provisioning/datasources/wynnsync.yml', folder), 'utf8')).datasources
    expect(uid).toMatch(/^wynnsync-/)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    expect(new Set(panels.map(({ datasource }) => datasource.uid))).toEqual(new Set([source.uid]))
    const taken = new Set<string>()
    for (const { gridPos, title } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x} ${y}`), title).toBe(false)
          taken.add(`${x} ${y}`)
        }
      }
    }
  })
})

/** All of the questions that a dashboard can ask. */
const questions =
  `territory_owner_at territory_hold territory_capture capture_matrix map_at guild_territory_count season_rating
  territory_economy member_activity member_contribution membership_event member_retention guild_online_heatmap world_peak
  world_lifecycle online_total player_session player_playtime player_biography member_counter item_change recipe_change item_at
  recipe_at patch recipes_using coverage freshness loot_pool_at reward_appearance world_event_schedule ability_change aspect_change
  quest_change leaderboard_at leaderboard_history news`.split(/\s+/)

test.each(questions)('a dashboard asks %s', (name) => {
  const statements = dashboards.flatMap(({ panels }) =>
    panels.flatMap(({ targets }) => targets.map(({ rawSql }) => rawSql)),
  )
  expect(statements.some((sql) => new RegExp(`analytics\\.${name}\\b`).test(sql))).toBe(true)
})
