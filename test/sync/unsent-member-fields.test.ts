import { describe, expect, test } from 'vitest'
import { guildBody, guildId, playerId, syncGuild } from '../support/guild-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const minute = (nth: number) => new Date(Date.UTC(2026, 5, 1, 10, nth)).toISOString().slice(11, 16)

describe.each(kindsAtNight)('a field of guilds and members that is sent no more, in the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows } = world
  const spans = () => rows('select resource, field, last_sent_at, from_at, until_at from sync.unsent order by 1, 2, 4')
  const game = async () => {
    const counts = await world.rowCounts()
    return Object.fromEntries(Object.entries(counts).filter(([name]) => name.startsWith('game.')))
  }

  test('of guilds and members is unknown: neither 0 nor exact', async () => {
    const guild = (letter: string, contributed: number, fields: object = {}) =>
      guildBody(
        letter,
        Object.fromEntries(
          Array.from({ length: 6 }, (_, nth) => [
            nth + 1,
            { rank: nth === 0 ? 'owner' : 'recruit', contributed, online: true },
          ]),
        ),
        { level: 10, wars: 5, online: 6, ...fields },
      )
    const lacking = (letter: string) =>
      JSON.parse(JSON.stringify(guild(letter, 0)), (key, value) =>
        ['contributed', 'wars'].includes(key) || (key === 'online' && typeof value === 'boolean') ? undefined : value,
      ) as object
    for (const [nth, time] of ['10:00', '10:10', '10:20'].entries())
      await syncGuild(world, guild('a', 1000 * nth), time)
    const before = await game()
    for (let nth = 0; nth < 6; nth++)
      expect(await syncGuild(world, lacking('a'), minute(30 + 5 * nth))).toMatchObject({ status: 'partial', events: 0 })
    expect((await spans()).map(([, field]) => field)).toEqual([
      '/members/*/*/contributed',
      '/members/*/*/online',
      '/wars',
    ])
    expect((await game())['game.member_counter']).toBe(before['game.member_counter'])
    expect(
      await rows('select wars, online, online_listed from game.guild_sample order by observed_at desc limit 1'),
    ).toEqual([[null, 6, null]])
    const contribution = (from: string, to: string) =>
      rows(
        `select distinct contributed, quality from analytics.member_contribution('${guildId('a')}', '2026-06-01 ${from}Z', '2026-06-01 ${to}Z')`,
      )
    expect(await contribution('10:26', '11:00')).toEqual([[null, 'unknown']])
    expect(await contribution('09:00', '10:21')).toEqual([[2000, 'at_least']])
    expect(await contribution('10:00', '10:20')).toEqual([[2000, 'exact']])
    await syncGuild(world, guild('a', 9000), '12:00')
    // It never fell: what lies between two responses that have it is certain.
    expect(await contribution('10:15', '12:00')).toEqual([[8000, 'exact']])
    expect(await contribution('10:15', '11:00')).toEqual([[0, 'at_least']])
    expect(await contribution('12:05', '12:30')).not.toEqual([['0', 'exact']])
    expect((await spans()).every(([, , , , until]) => until === '12:00')).toBe(true)
    void playerId
  })

  test('of all members is unknown where it is null instead of a number', async () => {
    const guild = (contributed: number | null) =>
      guildBody(
        'a',
        Object.fromEntries(
          Array.from({ length: 6 }, (_, nth) => [nth + 1, { rank: nth === 0 ? 'owner' : 'recruit', contributed }]),
        ),
      )
    for (const [nth, time] of ['10:00', '10:10', '10:20'].entries()) await syncGuild(world, guild(1000 * nth), time)
    for (let nth = 0; nth < 6; nth++) await syncGuild(world, guild(null), minute(30 + 5 * nth))
    expect((await spans()).map(([, field]) => field)).toEqual(['/members/*/*/contributed'])
    expect(
      await rows(
        `select distinct contributed, quality from analytics.member_contribution('${guildId('a')}', '2026-06-01 10:26Z', '2026-06-01 11:00Z')`,
      ),
    ).toEqual([[null, 'unknown']])
  })

  const owner = { 1: { rank: 'owner' } }
  const banner = { base: 'WHITE', tier: 3, structure: 'tier3', layers: [] }
  const letters = [...'abcdef0123456789']
  const withoutRaids = (letter: string) => {
    const { raids: _, ...fields } = guildBody(letter, owner) as Record<string, unknown>
    return fields
  }

  test.each([
    [3, 3],
    [8, 2],
    [13, 2],
  ])('of %i guilds with it, %i others without it do not tell that it is sent no more', async (having, lacking) => {
    for (const [nth, letter] of letters.slice(0, having + lacking).entries()) {
      const body = nth < having ? guildBody(letter, owner) : withoutRaids(letter)
      expect(await syncGuild(world, body, minute(3 * nth))).toMatchObject({ status: 'ok' })
    }
    expect(await syncGuild(world, guildBody('b', owner, { level: 50 }), '11:00')).toMatchObject({ status: 'unchanged' })
    expect([await spans(), await rows('select kind, path from sync.drift')]).toEqual([[], []])
  })

  test('of guilds that are seen for the first time is found out all the same', async () => {
    const statuses: string[] = []
    for (const [nth, letter] of letters.slice(0, 9).entries()) {
      const body = nth < 3 ? guildBody(letter, owner) : withoutRaids(letter)
      statuses.push((await syncGuild(world, body, minute(3 * nth))).status)
    }
    expect(statuses.slice(3)).toEqual(['ok', 'ok', 'ok', 'partial', 'partial', 'partial'])
    expect(await spans()).toEqual([['guilds', '/raids', '10:06', '10:09', null]])
  })

  test('is none where every third guild that is new lacks it, also when two come in a row', async () => {
    for (let nth = 0; nth < 42; nth++) {
      const uuid = `${String(nth).padStart(8, '0')}-0000-4000-8000-000000000000`
      const body = { ...(nth % 3 === 2 || nth > 39 ? withoutRaids('a') : guildBody('a', owner)), uuid }
      expect(await syncGuild(world, body, minute(2 * nth))).toMatchObject({ status: 'ok' })
    }
    expect([await spans(), await rows('select kind, path from sync.drift')]).toEqual([[], []])
  })

  test('is none where a banner has no structure, which many have not', async () => {
    for (let nth = 0; nth < 20; nth++)
      await syncGuild(world, guildBody('a', owner, { level: nth, banner }), minute(2 * nth))
    const { structure: _, ...plain } = banner
    for (let nth = 20; nth < 24; nth++)
      expect(await syncGuild(world, guildBody('a', owner, { banner: plain }), minute(2 * nth))).not.toMatchObject({
        status: 'partial',
      })
    expect(await spans()).toEqual([])
    expect(await rows('select banner_base, banner_structure from game.guild order by valid_from desc limit 1')).toEqual(
      [['WHITE', null]],
    )
  })
})
