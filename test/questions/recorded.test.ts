import { describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { recordedIn } from '../../src/questions/catalogue.ts'
import { readQuestions } from '../../src/questions/questions.ts'
import { items } from '../../src/resources/items/index.ts'
import { onlineBody, syncOnline, syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests, testDatabase } from '../support/postgres.ts'
import { fullProfile, profilesHiding, secrets, showEverything } from '../support/private-player.ts'
import { item, worldOf } from '../support/world.ts'

const views = async (db: Database) => (await readQuestions(db)).filter((one) => recordedIn(one) !== undefined)

/** Every row of every view, as `view: row`. */
async function everyRow(db: Database): Promise<string[]> {
  const selects = (await views(db)).map(
    ({ name }) => `select '${name}: ' || to_jsonb(shown)::text from analytics.${name} shown`,
  )
  return (await db.values(selects.join(' union all '))).map(String)
}

describe('everything that is recorded can be asked:', () => {
  test('each column of each table of game is in a view of schema analytics, with what it means', async () => {
    const db = await testDatabase('server')
    const columns = await db.values(
      `select relname || '.' || attname || ': ' || col_description(attrelid, attnum)
         from pg_attribute join pg_class on pg_class.oid = attrelid
        where relnamespace = 'game'::regnamespace and relkind in ('r', 'p') and not relispartition and attnum > 0 and not attisdropped`,
    )
    const shown = (await views(db)).flatMap((one) =>
      one.columns.map(({ name, comment }) => `${recordedIn(one)?.table.slice('game.'.length)}.${name}: ${comment}`),
    )
    expect(columns.length).toBeGreaterThan(500)
    expect(columns.map(String).filter((one) => !shown.includes(one))).toEqual([])
    expect(shown.filter((one) => /: (null)?$/.test(one))).toEqual([])
  })

  test('a table has a view of its current rows, where no question has that name, and one with its past', async () => {
    const names = (await views(await testDatabase('server'))).map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['raid', 'raid_history', 'raid_reward', 'raid_reward_history', 'item_history']),
    )
    expect(names).toEqual(expect.arrayContaining(['player_counter', 'player_counter_sample', 'player_hop_history']))
    expect(names).not.toContain('item')
    expect(names).not.toContain('territory_capture')
  })
})

describe.each(kindsOfLongTests)('the views of what is recorded, on the %s database,', (kind) => {
  const world = worldOf(kind)

  test('show of versions the current one, of samples the latest, of parts those of the current version, and the past beside it', async () => {
    const bow = (strength: number) => item('bow', { identifications: { rawStrength: strength } })
    await world.sync(items, [bow(1), item('ring')], '10:00')
    await world.sync(items, [bow(2), item('ring')], '11:00')
    const raws = (view: string) => world.rows(`select raw from analytics.${view} order by 1`)
    expect(await raws('item_identification_history')).toEqual([[1], [2]])
    expect(await world.rows(`select count(*)::int from analytics.item_history where valid_until < 'infinity'`)).toEqual(
      [[1]],
    )

    const shown = `select raw, to_char(confirmed_until at time zone 'UTC', 'HH24:MI') from analytics.item_identification_history order by 1`
    expect(await world.rows(shown)).toEqual([
      [1, '10:00'],
      [2, '11:00'],
    ])
    await world.sync(items, [bow(2), item('ring')], '12:00')
    expect(await world.rows(shown)).toEqual([
      [1, '10:00'],
      [2, '12:00'],
    ])

    await syncOnline(world, onlineBody({ EU1: [1, 2] }), '10:00')
    await syncOnline(world, onlineBody({ EU1: [1] }), '10:10')
    await syncOnline(world, onlineBody({ EU1: [1] }), '10:20')
    const worlds = (view: string, column: string) =>
      world.rows(`select online, to_char(${column} at time zone 'UTC', 'HH24:MI') from analytics.${view} order by 1`)
    expect(await worlds('world_sample', 'confirmed_until')).toEqual([[1, '10:20']])
    expect(await worlds('world_sample_sample', 'observed_at')).toEqual([
      [1, '10:10'],
      [2, '10:00'],
    ])
  })

  test.each(Object.keys(profilesHiding))('leave out what %s hides from the first response on', async (rule) => {
    await showEverything(world)
    await syncPlayer(world, 1, fullProfile(), '09:20')
    const found = async (texts: readonly string[]) => {
      const rows = await everyRow(world.db)
      return texts.filter((text) => rows.some((row) => text.split(' of ').every((one) => row.includes(one))))
    }
    const restricted: readonly string[] = Object.entries(secrets).find(([name]) => name === rule)?.[1] ?? []
    expect(await found(restricted)).toEqual(restricted)
    await syncPlayer(world, 1, { ...profilesHiding[rule]?.(), restrictions: { [rule]: true } }, '10:00')
    expect(await found(restricted)).toEqual([])
    const others = rule === 'mainAccess' ? secrets.onlineStatus : secrets.mainAccess
    expect(await found(others)).toEqual(others)
  })
})
