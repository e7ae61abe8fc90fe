import { describe, expect, test } from 'vitest'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { prepare } from '../../src/sync/normalize/prepare.ts'
import { guildBody, place, syncGuild } from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

/** Other spellings of an instant in UTC without a fraction. */
const spellings: Readonly<Record<string, (seconds: string) => string>> = {
  'with Z': (seconds) => `${seconds}Z`,
  'with milliseconds': (seconds) => `${seconds}.000Z`,
  'with microseconds': (seconds) => `${seconds}.000000Z`,
  'with the offset +00:00': (seconds) => `${seconds}+00:00`,
  'with microseconds and the offset +0000': (seconds) => `${seconds}.000000+0000`,
  'with a space': (seconds) => `${seconds.replace('T', ' ')}+00`,
  'with lower-case letters': (seconds) => `${seconds.replace('T', 't')}z`,
  'without a zone': (seconds) => seconds,
  'with microseconds, a space and no zone': (seconds) => `${seconds.replace('T', ' ')}.000000`,
  'without hyphens and colons': (seconds) => `${seconds.replaceAll(/[-:]/g, '')}Z`,
  'of another zone': (seconds) => `${new Date(Date.parse(`${seconds}Z`) + 5_400_000).toISOString().slice(0, 19)}+01:30`,
}

/** A body with all its instants spelled like this. */
function spelled<Body>(body: Body, spell: (seconds: string) => string): Body {
  const text = JSON.stringify(body).replaceAll(/"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.0+)?Z"/g, (_all, seconds) =>
    JSON.stringify(spell(String(seconds))),
  )
  return JSON.parse(text) as Body
}

const season = { srPerWar: 80, ratingRewards: [], leaderboardRewards: [], endDate: '2026-06-20T04:01:00Z' }
const body = {
  territories: { Oak: place('a', '08:00'), Elm: place('b', '07:00') },
  seasons: { 31: { ...season, initDate: '2026-05-01T23:01:00Z' } },
  guild: guildBody('a', { 1: { rank: 'owner' }, 2: {} }, { created: '2020-01-02T03:04:05Z' }),
  player: profile(1, { firstJoin: '2015-04-29T17:22:00Z' }),
}

describe.each(kindsOfPart)('instants that are spelled otherwise, in the %s database,', (kind) => {
  const world = worldOf(kind)
  const versions = async () => {
    const counts = await world.rowCounts()
    return Object.fromEntries(Object.entries(counts).filter(([name]) => name.startsWith('game.')))
  }

  test('are no change of a territory, a hold, a season, a guild, a member or a player', async () => {
    const load = async (spell: (seconds: string) => string, minute: string) => {
      await world.sync(territories, spelled(body.territories, spell), `10:${minute}`)
      await world.sync(seasons, spelled(body.seasons, spell), `10:${minute}`)
      await syncGuild(world, spelled(body.guild, spell), `10:${minute}`)
      await syncPlayer(world, 1, spelled(body.player, spell), `10:${minute}`)
    }
    await load((seconds) => `${seconds}Z`, '00')
    const before = await versions()
    expect(before).toMatchObject({
      'game.territory_hold': 2,
      'game.guild_member': 2,
      'game.season': 1,
      'game.player': 1,
    })
    for (const [nth, spell] of Object.values(spellings).entries()) await load(spell, String(10 + nth))
    expect(await versions()).toEqual(before)
  })

  test('that are cut to seconds or milliseconds, or are numbers, move no hold and no spell, and neither do they where whole again', async () => {
    const whole = '2026-06-01T08:00:00.123456Z'
    const cut = ['2026-06-01T08:00:00Z', '2026-06-01T08:00:00.123Z', 1780300800, 1780300800123, '1780300800', whole]
    const load = async (instant: unknown, at: string) => {
      const places = ['Ash', 'Elm', 'Oak', 'Yew'].map((name) => [name, { ...place('a', null), acquired: instant }])
      await world.sync(territories, Object.fromEntries(places), at)
      const { members, ...guild } = guildBody('a', { 1: { rank: 'owner' }, 2: {}, 3: {}, 4: {}, 5: {} }) as {
        members: Record<string, Record<string, object>>
      }
      const dated = Object.entries(members).map(([rank, ofRank]) => {
        const all = Object.entries(ofRank).map(([name, member]) => [name, { ...member, joined: instant }])
        return [rank, rank === 'total' ? ofRank : Object.fromEntries(all)]
      })
      await syncGuild(world, { ...guild, members: Object.fromEntries(dated) }, at)
    }
    for (const [nth, instant] of [whole, ...cut, cut[0], cut[0], whole].entries())
      await load(instant, `10:${10 + 3 * nth}`)
    expect(await world.rows('select distinct acquired::text, valid_until from game.territory_hold')).toEqual([
      [expect.stringContaining('08:00:00.123456'), 'infinity'],
    ])
    expect(await versions()).toMatchObject({ 'game.territory_hold': 4, 'game.guild_member': 5 })
    expect(await world.rows('select * from analytics.membership_event')).toEqual([])
  })

  test('that were cut at first invent no capture and no spell once they are whole', async () => {
    for (const [nth, acquired] of [1780300800, 1780300800, '2026-06-01T08:00:00.123456Z'].entries())
      await world.sync(territories, { Oak: { ...place('a', null), acquired } }, `10:0${nth}`)
    expect(await versions()).toMatchObject({ 'game.territory_hold': 1 })
    expect(await versions()).not.toHaveProperty('game.territory_capture')
  })

  test.each([
    [
      'season',
      seasons,
      body.seasons,
      Object.entries(body.seasons).map(([number, record]) => ({ season: number, record })),
    ],
    [
      'territory_hold',
      territories,
      body.territories,
      Object.entries(body.territories).map(([territory, record]) => ({ territory, record })),
    ],
  ])(
    'are none of a %s whose version an earlier program hashed as it was sent',
    async (table, resource, sent, records) => {
      await world.sync(resource, sentByEarlier(sent), '10:00')
      const { entities } = prepare(resource, sentByEarlier(records))
      const hashed = entities.flatMap((one) => [one, ...Object.values(one.relatedEntities).flat()])
      const counts = () => world.rows(`select count(*)::int, count(distinct hash)::int from game.${table}`)
      const before = await counts()
      for (const { hash, hashAsSent } of hashed) {
        expect(hashAsSent === undefined || !hash.equals(hashAsSent)).toBe(true)
        if (hashAsSent) await world.db.query(`update game.${table} set hash = $1 where hash = $2`, [hashAsSent, hash])
      }
      const stored = await world.rows(`select encode(hash, 'hex') from game.${table} order by 1`)
      await world.db.query('update sync.run set content_hash = null, body_hash = null')
      await world.sync(resource, sentByEarlier(sent), '10:10')
      expect(await counts()).toEqual(before)
      expect(await world.rows(`select encode(hash, 'hex') from game.${table} order by 1`)).not.toEqual(stored)
      for (const [nth, spell] of Object.values(spellings).entries())
        await world.sync(resource, spelled(sent, spell), `10:${20 + nth}`)
      expect(await counts()).toEqual(before)
    },
  )
})

/** What an earlier program hashed as it came. */
function sentByEarlier<Body>(body: Body): Body {
  return spelled(body, spellings['with the offset +00:00'] ?? String)
}
