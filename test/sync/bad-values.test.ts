import { describe, expect, test } from 'vitest'
import { gatheringNodes } from '../../src/resources/gathering-nodes/index.ts'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { itemMetadata } from '../../src/resources/item-metadata/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { mapMarkers } from '../../src/resources/map-markers/index.ts'
import { quests } from '../../src/resources/quests/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { answerGuild, guildBody, guildId, place, playerId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { onlineBody, profile, syncOnline, syncPlayer, syncPlayers } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { item, worldOf } from '../support/world.ts'

const badInstants = ['2026-02-30T00:00:00.000Z', '2026-05-01T00:00:00.000+16:00', '2026-05-01T24:30:00Z']
const lone = 'half \ud800 of a pair'
const nul = 'a\0b'

const levels = 20_000
const deep = '['.repeat(levels) + ']'.repeat(levels)

/** The JSON of a body, with something in the place of "DEEP" that nests too deep. */
function deepText(body: unknown): string {
  return JSON.stringify(body).replaceAll('"DEEP"', deep)
}

describe.each(kindsOfLongTests)('a value that Postgres refuses, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const quarantine = () => world.rows('select key, path from sync.quarantine order by id')

  test.each(badInstants)('costs one territory: acquired %s', async (acquired) => {
    await world.sync(territories, { Oak: place('a', '08:00'), Elm: place('a', '08:00') }, '10:00')
    const body = { Oak: { ...place('b', null), acquired }, Elm: place('b', '09:59') }
    expect(await world.sync(territories, body, '10:01')).toMatchObject({ status: 'partial', quarantined: 1 })
    expect(
      await world.rows(
        `select territory, guild_prefix from game.territory_hold where valid_until = 'infinity' order by 1`,
      ),
    ).toEqual([
      ['Elm', 'bbb'],
      ['Oak', 'aaa'],
    ])
    expect(await quarantine()).toEqual([['Oak', '/acquired']])
  })

  test.each(badInstants)('costs one member of a guild: joined %s', async (joined) => {
    const members = { 1: { rank: 'owner' }, 2: {}, 3: {} }
    await syncGuild(world, guildBody('a', members), '10:00')
    const body = guildBody('a', { ...members, 2: { username: 'Player2' }, 3: { contributed: 7 } })
    Object(body).members.recruit.Player2.joined = joined
    expect(await syncGuild(world, body, '10:10')).toMatchObject({ status: 'partial', quarantined: 1, closed: 0 })
    expect(await quarantine()).toEqual([[`${guildId('a')}/${playerId(2)}`, '/members/recruit/Player2/joined']])
    expect(await world.rows(`select value from game.member_counter where value > 0`)).toEqual([[7]])
    expect(await world.rows(`select from game.guild_member where valid_until < 'infinity'`)).toEqual([])
  })

  test.each([
    ['NUL', nul],
    ['half of a surrogate pair', lone],
    ['more characters than an index takes', `${Array.from({ length: 900 }, (_, nth) => `${nth} `).join('')}`],
  ])(
    'costs one territory with %s in its name, and in a route or in a resource at most its own value',
    async (_what, text) => {
      const body = {
        [text]: place('a', '08:00'),
        Ash: place('a', '08:00', { links: ['Elm', text] }),
        Elm: place('a', '08:00', {
          resources: [
            { type: text, stored: 1 },
            { type: 'ORE', stored: 2 },
          ],
        }),
        Yew: place('a', '08:00'),
      }
      const long = text.length > 500
      expect(await world.sync(territories, body, '10:00')).toMatchObject({
        quarantined: 2,
        inserted: 3,
      })
      const readable = text.toWellFormed().replace('\0', '\uFFFD')
      expect(await world.rows('select territory, resource, stored from game.territory_resource')).toEqual([
        ['Elm', 'ORE', 2],
      ])
      expect((await quarantine()).map(([, path]) => path)).toContain('/resources/0/type')
      if (!long)
        expect(await world.rows('select links_to from game.territory_link order by position')).toEqual([
          ['Elm'],
          [readable],
        ])
      expect(await world.sync(territories, body, '10:01')).toMatchObject({ status: 'partial', inserted: 0 })
      expect(await world.rows('select from sync.claim')).toEqual([])
    },
  )

  test.each([nul, lone])(
    'costs its character in the name of a guild, in the list and of a holder: %j',
    async (name) => {
      const body = {
        [guildId('a')]: { uuid: guildId('a'), name: 'Guild a', prefix: 'aaa' },
        [guildId('b')]: { uuid: guildId('b'), name, prefix: 'bbb' },
      }
      expect(await world.sync(guildList, body, '10:00')).toMatchObject({ inserted: 2, quarantined: 0 })
      const readable = name.toWellFormed().replace('\0', '\uFFFD')
      expect(await world.rows(`select name from game.guild_listing where prefix = 'bbb'`)).toEqual([[readable]])
      await world.sync(territories, { Oak: place('a', '08:00') }, '10:10')
      const held = Object(place('b', '10:19'))
      const captured = { Oak: { ...held, guild: { ...held.guild, name } } }
      expect(await world.sync(territories, captured, '10:20')).toMatchObject({ status: 'ok', quarantined: 0 })
      expect(await world.rows(`select guild_name from game.territory_hold where valid_until = 'infinity'`)).toEqual([
        [readable],
      ])
      const members = guildBody('b', { 1: { rank: 'owner', username: `Player1${name}` }, 2: {} })
      expect(await syncGuild(world, members, '10:30')).toMatchObject({ quarantined: 0 })
      expect(await world.rows('select username from game.guild_member order by player_uuid')).toEqual([
        [`Player1${readable}`],
        ['Player2'],
      ])
    },
  )

  test.each([nul, lone])('costs its character in what an error of the API says: %j', async (detail) => {
    world.sandbox.setAnswer('/guild/list/territory', () => ({
      status: 400,
      body: { error: 'InvalidFormError', detail, code: 400 },
    }))
    expect(await world.syncNow(territories)).toMatchObject({ status: 'failed' })
    expect(await world.rows(`select status, error from sync.run`)).toEqual([
      ['failed', expect.stringContaining('\uFFFD')],
    ])
    const refused = { status: 403, body: { error: 'Forbidden', detail, code: 403 } }
    world.sandbox.setAnswer(`/player/${playerId(7)}`, () => refused)
    expect(await syncPlayers(world, { keys: [playerId(7)] })).toMatchObject({ requests: 1 })
    expect(await world.rows(`select key from sync.observation where reason like '%\uFFFD%'`)).toEqual([[playerId(7)]])
  })

  test.each([nul, lone])('costs what it measures: %j in the name of a board or a counter', async (name) => {
    const counted = { 1: { rank: 'owner', globalData: { wars: 3, [name]: 4 } } }
    const body = guildBody('a', counted, { ranking: { wars: 5, [name]: 6 } })
    expect(await syncGuild(world, body, '10:00')).toMatchObject({ status: 'partial', quarantined: 2 })
    expect(await world.rows('select board, position from game.guild_ranking')).toEqual([['wars', 5]])
    expect(await world.rows(`select value from game.member_counter where counter = 'wars'`)).toEqual([[3]])
    const two = profile(2, { globalData: { wars: 1, [name]: 2 }, ranking: { wars: 1, [name]: 2 }, playtime: 3 })
    expect(await syncPlayer(world, 2, two, '10:05')).toMatchObject({ quarantined: 2 })
    expect(await world.rows('select counter, value from game.player_counter order by 1')).toEqual([
      ['playtime', 3],
      ['wars', 1],
    ])
  })

  test.each([1e39, -1e39, 1e-50])('costs the sample that it stands in: xpPercent %d', async (xpPercent) => {
    const body = guildBody('a', { 1: { rank: 'owner', contributed: 5 } }, { xpPercent, ranking: { wars: 2 } })
    expect(await syncGuild(world, body, '10:00')).toMatchObject({ status: 'partial', inserted: 1, quarantined: 1 })
    expect(await quarantine()).toEqual([[guildId('a'), '/xpPercent']])
    expect(await world.rows('select from game.guild_sample')).toEqual([])
    expect(await world.rows('select count(*) from game.guild_ranking')).toEqual([[1]])
    expect(await world.rows(`select value from game.member_counter where counter = 'contributed'`)).toEqual([[5]])
  })

  test.each([
    ['in capitals', (uuid: string) => uuid.toUpperCase()],
    ['without dashes', (uuid: string) => uuid.replaceAll('-', '')],
  ])('costs nothing where it is a uuid %s', async (_what, spelled) => {
    const letters = 'abcdefab-0000-4000-8000-00000000000a'
    const member = (uuid: string) => guildBody('a', { 1: { rank: 'owner' }, 2: { uuid } })
    for (const [nth, uuid] of [letters, spelled(letters), letters].entries()) {
      const body = { ...member(uuid), uuid: nth === 1 ? spelled(guildId('a')) : guildId('a') }
      expect(await syncAs(guildId('a'), body, `10:${nth}0`)).toMatchObject({
        quarantined: 0,
        changed: 0,
        closed: 0,
        events: 0,
      })
    }
    expect(await world.rows('select count(*) from game.guild_member')).toEqual([[2]])
    const listed = (uuid: string) => ({ [uuid]: { uuid, name: 'Guild a', prefix: 'aaa' } })
    await world.sync(guildList, listed(guildId('a')), '11:00')
    for (const at of ['12:00', '13:00', '14:00'])
      expect(await world.sync(guildList, listed(spelled(guildId('a'))), at)).toMatchObject({
        closed: 0,
        changed: 0,
      })
    const held = place('a', '08:00')
    await world.sync(territories, { Oak: held }, '15:00')
    const respelled = { ...held, guild: { ...Object(held).guild, uuid: spelled(guildId('a')) } }
    expect(await world.sync(territories, { Oak: respelled }, '15:01')).toMatchObject({ quarantined: 0, events: 0 })
    const character = 'abcdefab-0000-4000-8000-00000000000b'
    const played = (spell: (uuid: string) => string) => ({
      ...Object(profile(1, { activeCharacter: spell(character) })),
      uuid: spell(playerId(1)),
      guild: { uuid: spell(guildId('a')), name: 'Guild a', prefix: 'aaa', rank: 'OWNER' },
      characters: { [spell(character)]: { type: 'MAGE', level: 3, gamemode: [] } },
    })
    await syncPlayer(world, 1, played(String), '15:10')
    expect(await syncPlayer(world, 1, played(spelled), '15:20')).toMatchObject({
      quarantined: 0,
      changed: 0,
      closed: 0,
      events: 0,
    })
    expect(await world.rows('select count(*) from game.player_character')).toEqual([[1]])
  })

  /** A guild is asked for by its key, and whatever body comes. */
  async function syncAs(key: string, body: object | string, at: string) {
    await answerGuild(world, { uuid: key }, at)
    const expires = new Date(world.clock.now() + 120_000).toUTCString()
    const headers = { 'Cache-Control': 'max-age=120', Expires: expires }
    world.sandbox.setAnswer(`/guild/uuid/${key}`, () => ({ headers, body }))
    return await syncGuilds(world, { keys: [key] })
  }

  test('costs a character that comes twice, in capitals and in small letters, and says two things', async () => {
    const uuid = 'abcdefab-0000-4000-8000-00000000000b'
    const character = { type: 'MAGE', level: 3, gamemode: [] }
    const other = { ...character, level: 4 }
    const twice = { [uuid]: character, [uuid.toUpperCase()]: other }
    expect(await syncPlayer(world, 1, profile(1, { characters: twice }), '10:00')).toMatchObject({
      quarantined: 2,
      inserted: 1,
    })
    expect(await world.rows('select from game.player_character')).toEqual([])
    const same = { [uuid]: character, [uuid.toUpperCase()]: character }
    expect(await syncPlayer(world, 1, profile(1, { characters: same }), '10:10')).toMatchObject({ quarantined: 0 })
    expect(await world.rows('select level from game.player_character')).toEqual([[3]])
  })

  test('costs the response that is about another guild or player than the one that was asked for', async () => {
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '10:00')
    const other = guildBody('b', { 1: { rank: 'owner' } })
    expect(await syncAs(guildId('a'), other, '10:10')).toMatchObject({ status: 'partial', rejected: 1, inserted: 0 })
    expect(await world.rows('select guild_uuid from game.guild')).toEqual([[guildId('a')]])
    await syncPlayer(world, 1, profile(1, { playtime: 5 }), '10:20')
    const hidden = profile(1, { restrictions: { mainAccess: true } })
    const asked = world.clock.now() + 200_000
    await world.clock.advanceTo(asked)
    world.sandbox.setAnswer(`/player/${playerId(2)}`, () => ({ body: hidden }))
    expect(await syncPlayers(world, { keys: [playerId(2)] })).toMatchObject({ rejected: 1 })
    expect(await world.rows('select value from game.player_counter')).toEqual([[5]])
  })

  test('costs pieces of a profile, however many, and the next response of one record is as plausible as before', async () => {
    const odd = { a: {}, b: {}, c: {}, d: {} }
    expect(await syncPlayer(world, 1, profile(1, { characters: odd }), '10:00')).toMatchObject({ quarantined: 4 })
    expect(await syncPlayer(world, 1, profile(1, { nickname: 'x' }), '10:10')).toMatchObject({
      rejected: 0,
      changed: 1,
    })
  })

  test.each(['constructor', '__proto__', 'toString', `x' or true --`])(
    'costs nothing where a rule is called %s',
    async (rule) => {
      const restrictions = JSON.parse(`{${JSON.stringify(rule)}: true}`)
      const members = { 1: { rank: 'owner', globalData: { wars: 3 } }, 2: { restrictions } }
      expect(await syncGuild(world, guildBody('a', members), '10:00')).toMatchObject({ status: 'ok', quarantined: 0 })
      expect(await syncPlayer(world, 2, profile(2, { playtime: 5, restrictions }), '10:05')).toMatchObject({
        status: 'ok',
      })
      expect(await world.rows(`select value from game.member_counter where counter = 'wars'`)).toEqual([[3]])
    },
  )

  test('costs a season whose number is written in two ways', async () => {
    const season = { initDate: '2026-01-01T00:00:00Z', endDate: '2026-03-01T00:00:00Z' }
    const body = { 1: season, '01': { ...season, srPerWar: 5 }, 2: season }
    expect(await world.sync(seasons, body, '10:00')).toMatchObject({ inserted: 1, quarantined: 2 })
    expect(await world.rows('select season from game.season')).toEqual([[2]])
  })

  test('costs one record of those that nest too deep, wherever they do', async () => {
    const all = [item('Elm', { odd: { deeper: 'DEEP' } }), item('Oak')]
    expect(await world.sync(items, deepText(all), '10:00')).toMatchObject({ inserted: 1, quarantined: 1 })
    const [[, path] = []] = await quarantine()
    expect(path).toMatch(/^\/odd\/deeper(\/0)+$/)
    expect(await world.rows(`select json_typeof(raw), length(raw::text) > 20000 from sync.quarantine`)).toEqual([
      ['string', true],
    ])
    const places = { Oak: place('a', '08:00', { odd: 'DEEP' }), Elm: place('a', '08:00') }
    expect(await world.sync(territories, deepText(places), '10:05')).toMatchObject({ inserted: 1, quarantined: 1 })
    const owner = { rank: 'owner', globalData: { odd: 'DEEP' } }
    expect(await syncAs(guildId('a'), deepText(guildBody('a', { 1: owner })), '10:10')).toMatchObject({
      quarantined: 1,
    })
    await world.sync(quests, { quests: 5 }, '11:00')
    expect(await world.sync(quests, deepText({ odd: 'DEEP' }), '13:00')).toMatchObject({
      status: 'partial',
      quarantined: 1,
    })
    const filters = JSON.parse(`${'{"a":'.repeat(900)}"DEEP"${'}'.repeat(900)}`)
    expect(await world.sync(itemMetadata, deepText({ filters, list: ['x'] }), '10:20')).toMatchObject({
      status: 'partial',
      inserted: 1,
      quarantined: 1,
    })
  })

  test('costs one place whose name nests too deep, and ends none', async () => {
    const at = (x: number) => ({ x, y: 5, z: 5 })
    const markers = (name: string) =>
      deepText([
        { name, icon: 'a.png', ...at(1) },
        { name: 'Well', icon: 'a.png', ...at(2) },
      ])
    const nodes = (resource: string) =>
      deepText(
        [1, 2].map((x) => ({
          resource: x === 1 ? resource : 'Oak',
          type: 'WOODCUTTING',
          level: 1,
          angle: 0,
          ...at(x),
        })),
      )
    await world.sync(mapMarkers, markers('Bank'), '10:00')
    await world.sync(gatheringNodes, nodes('Fir'), '10:00')
    for (const at of ['12:00', '14:00', '16:00']) {
      expect(await world.sync(mapMarkers, markers('DEEP'), at)).toMatchObject({ status: 'partial', quarantined: 1 })
      expect(await world.sync(gatheringNodes, nodes('DEEP'), at)).toMatchObject({ status: 'partial', quarantined: 1 })
    }
    const open = (table: string) => world.rows(`select count(*)::int from game.${table} where valid_until = 'infinity'`)
    expect([await open('map_marker'), await open('gathering_node')]).toEqual([[[2]], [[2]]])
  })

  test('costs the world whose name cannot be kept; where its players are is not known', async () => {
    const body = onlineBody({ EU1: [1, 2], [nul]: [3], [lone]: [4] })
    expect(await syncOnline(world, body, '10:00')).toMatchObject({ status: 'partial', inserted: 1, quarantined: 2 })
    expect(await world.rows('select last_world, count(*) from game.player_listing group by 1 order by 1')).toEqual([
      ['EU1', 2],
      [null, 2],
    ])
  })

  const oddNames = [nul, lone, Array.from({ length: 2000 }, (_, nth) => nth).join(' ')]

  test.each(oddNames)('costs one member of a guild where it is the name of a privacy rule', async (name) => {
    const members = { 1: { rank: 'owner' }, 2: {}, 3: {} }
    await syncGuild(world, guildBody('a', members), '10:00')
    const restricted = { ...members, 2: { restrictions: { [name]: true, online_status: true } }, 3: { contributed: 7 } }
    expect(['ok', 'partial']).toContain((await syncGuild(world, guildBody('a', restricted), '10:10')).status)
    expect(await world.rows('select value from game.member_counter where value > 0')).toEqual([[7]])
    expect(await world.rows('select field_group from sync.privacy_restriction')).toEqual([['onlineStatus']])
    expect(await syncGuild(world, guildBody('a', members), '10:20')).toMatchObject({ quarantined: 0 })
  })

  test.each(oddNames)(
    'never costs a whole profile where it is the name of a privacy rule or of a field',
    async (name) => {
      await syncPlayer(world, 1, profile(1, { shown: 1 }), '10:00')
      const odd = profile(1, { restrictions: { [name]: true, onlineStatus: true }, [name]: 1 })
      const run = await syncPlayer(world, 1, odd, '10:30')
      expect(['ok', 'partial', 'rejected']).toContain(run.status)
      expect(await world.rows('select field_group from sync.privacy_restriction')).toEqual([['onlineStatus']])
      for (const at of ['11:00', '11:10'])
        expect(['ok', 'unchanged']).toContain((await syncPlayer(world, 1, profile(1, { shown: 1 }), at)).status)
      expect(await world.rows('select from sync.privacy_restriction')).toEqual([])
    },
  )

  test('costs nothing where only the name of a new field is odd', async () => {
    const names = [
      '__proto__',
      'constructor',
      'x'.repeat(5000),
      Array.from({ length: 2000 }, (_, nth) => nth).join(' '),
    ]
    const odd = JSON.parse(`{${names.map((name, nth) => `${JSON.stringify(name)}:${nth}`).join(',')}}`)
    const inner = JSON.parse('{"__proto__": {"polluted": true}, "wars": {"__proto__": {"polluted": 1}}}')
    await world.sync(items, [item('Elm'), item('Oak')], '10:00')
    const body = [
      item('Elm', { ...odd, requirements: { ...odd } }),
      item('Oak', { base: {}, dropMeta: inner, icon: inner }),
    ]
    expect(await world.sync(items, body, '11:00')).toMatchObject({ status: 'ok', changed: 2, quarantined: 0 })
    expect(await world.sync(items, [item('Elm'), item('Oak')], '12:00')).toMatchObject({ status: 'ok', changed: 2 })
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(await world.rows(`select count(*) from game.field_change where path like '/xxx%'`)).toEqual([[2]])
    const seasonRanks = JSON.parse('{"__proto__": {"polluted": 1}, "3": {"rating": 1, "__proto__": {"polluted": 1}}}')
    expect(await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { seasonRanks }), '12:10')).toMatchObject({
      quarantined: 0,
    })
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})
