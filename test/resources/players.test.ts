import { describe, expect, test } from 'vitest'
import { players } from '../../src/resources/players/index.ts'
import { expireLedger } from '../../src/sync/retention/expiry.ts'
import { guildBody, guildId, playerId, syncGuild } from '../support/guild-answers.ts'
import { confirmPlayer, onlineBody, profile, syncOnline, syncPlayer, syncPlayers } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { contentOf, instantOf, worldOf } from '../support/world.ts'

const characterId = (number: number) => `cccccccc-0000-4000-8000-${String(number).padStart(12, '0')}`
const hero = { type: 'MAGE', level: 40, xp: 5_000_000_000, gamemode: [], meta: { died: false }, restrictions: {} }
const shown = { playtime: 12.5, globalData: { wars: 3, raids: { total: 2, list: { 'Some Raid': 2 } } } }

describe.each(kindsOfLongTests)('players, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows } = world
  const characters = () =>
    rows(
      'select right(character_uuid::text, 1), level, valid_from, valid_until from game.player_character order by 1, valid_from',
    )
  const counters = () => rows('select counter, observed_at, value from game.player_counter order by 1, 2')

  test('have versions of what they are, and samples of what is counted', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    const later = { ...shown, playtime: 13, username: 'Renamed', supportRank: 'vip', ranking: { level: 4 } }
    expect(await syncPlayer(world, 1, profile(1, later), '11:00')).toMatchObject({ status: 'ok', changed: 1 })
    expect(await rows('select username, support_rank, valid_from, valid_until from game.player order by 3')).toEqual([
      ['Player1', null, '10:00', '11:00'],
      ['Renamed', 'vip', '11:00', 'infinity'],
    ])
    expect(await counters()).toEqual([
      ['playtime', '10:00', 12.5],
      ['playtime', '11:00', 13],
      ['raids.list.Some Raid', '10:00', 2],
      ['raids.total', '10:00', 2],
      ['wars', '10:00', 3],
    ])
    expect(await rows('select board, position from game.player_ranking')).toEqual([['level', 4]])
    expect(await rows('select username, playtime_hours, observed_at from analytics.player')).toEqual([
      ['Renamed', 13, '11:00'],
    ])
  })

  test('are written once when the same answer comes again, and not at all when it is older', async () => {
    await syncPlayer(world, 1, profile(1, { ...shown, characters: { [characterId(1)]: hero } }), '10:00')
    const before = await contentOf(world.db)
    await syncPlayer(world, 1, profile(1, { ...shown, characters: { [characterId(1)]: hero } }), '10:10')
    await syncPlayer(world, 1, profile(1, { username: 'Old' }), '09:00')
    const after = await contentOf(world.db)
    for (const table of ['sync.observation', 'sync.work_item']) for (const one of [before, after]) delete one[table]
    expect(after).toEqual(before)
  })

  test.each([
    ['in what it is, too', { level: 60, nickname: 'Other' }],
    ['only in what is counted', {}],
  ])('with a character twice, in two spellings that differ %s, leave it as it was', async (_which, fields) => {
    const spelled = 'cccccccc-0000-4000-8000-00000000000a'
    const counted = { ...hero, mobsKilled: 10, quests: ['One'], professions: { fishing: { level: 3, xpPercent: 1 } } }
    const other = {
      ...counted,
      ...fields,
      mobsKilled: 99,
      quests: ['Two'],
      professions: { fishing: { level: 9, xpPercent: 1 } },
    }
    const both = { [characterId(1)]: hero, [spelled]: counted }
    const tables = ['character_counter', 'character_profession', 'character_quest', 'player_character']
    const content = async () => {
      const all = await contentOf(world.db)
      return tables.map((table) => all[`game.${table}`])
    }
    await syncPlayer(world, 1, profile(1, { ...shown, characters: both }), '10:00')
    const before = await content()
    for (const at of ['11:00', '11:10']) {
      const twice = { ...both, [spelled.toUpperCase()]: other }
      expect(await syncPlayer(world, 1, profile(1, { ...shown, characters: twice }), at)).toMatchObject({
        quarantined: 2,
      })
      expect(await content()).toEqual(before)
    }
    const same = { ...both, [spelled.toUpperCase()]: counted }
    expect(await syncPlayer(world, 1, profile(1, { ...shown, characters: same }), '12:00')).toMatchObject({
      quarantined: 0,
    })
    expect(await content()).toEqual(before)
  })

  test('who hide something have NULL for it and a reason, and no number falls to zero', async () => {
    await syncPlayer(world, 1, profile(1, { ...shown, firstJoin: '2020-01-01T00:00:00.000Z' }), '10:00')
    await confirmPlayer(world, 1, profile(1, { restrictions: { mainAccess: true } }), '11:10')
    expect(await rows('select valid_from, first_join is null, restricted from game.player order by 1')).toEqual([
      ['10:00', true, []],
      ['11:00', true, ['mainAccess']],
    ])
    expect(await counters()).toEqual([])
    expect(await rows('select playtime_hours, restricted from analytics.player')).toEqual([[null, ['mainAccess']]])
  })

  test('keep their characters while the list is absent, or leaves out the hunted ones', async () => {
    const [one, two] = [characterId(1), characterId(2)]
    await syncPlayer(world, 1, profile(1, { characters: { [one]: hero, [two]: hero } }), '10:00')
    for (const at of ['11:00', '11:10', '11:20']) await syncPlayer(world, 1, profile(1), at)
    const hunted = { characters: { [one]: hero }, restrictions: { huntedCharacterAccess: true } }
    for (const at of ['13:00', '13:10', '13:20']) await syncPlayer(world, 1, profile(1, hunted), at)
    expect(await characters()).toEqual([
      ['1', 40, '10:00', 'infinity'],
      ['2', 40, '10:00', 'infinity'],
    ])
  })

  test('who hide hunted characters play one that is listed, in whichever spelling its uuid comes', async () => {
    const uuid = 'abcdef01-0000-4000-8000-00000000000a'
    const hunted = { online: true, server: 'EU1', restrictions: { huntedCharacterAccess: true, onlineStatus: false } }
    for (const [at, listed, active] of [
      ['11:00', uuid, uuid],
      ['12:00', uuid, uuid.toUpperCase()],
      ['13:00', uuid.replaceAll('-', ''), uuid],
    ] as const)
      await syncPlayer(world, 1, profile(1, { ...hunted, characters: { [listed]: hero }, activeCharacter: active }), at)
    const statuses = () => rows('select observed_at, active_character from game.player_status order by 1')
    expect(await statuses()).toEqual([['11:00', uuid]])
    await syncPlayer(
      world,
      1,
      profile(1, { ...hunted, characters: { [characterId(2)]: hero }, activeCharacter: uuid }),
      '14:00',
    )
    expect(await statuses()).toEqual([
      ['11:00', uuid],
      ['14:00', null],
    ])
  })

  test('keep their characters where the list is empty, however often it comes', async () => {
    await syncPlayer(world, 1, profile(1, { characters: { [characterId(1)]: hero } }), '10:00')
    for (const at of ['11:00', '11:10', '02 10:00', '28 10:00'])
      await syncPlayer(world, 1, profile(1, { characters: {} }), at)
    expect(await characters()).toEqual([['1', 40, '10:00', 'infinity']])
  })

  test('lose a character that two whole lists lack', async () => {
    const [one, two] = [characterId(1), characterId(2)]
    await syncPlayer(world, 1, profile(1, { characters: { [one]: hero, [two]: hero } }), '10:00')
    const rest = profile(1, { characters: { [one]: { ...hero, level: 41 } } })
    await syncPlayer(world, 1, rest, '11:00')
    await syncPlayer(world, 1, rest, '12:00')
    expect(await characters()).toEqual([
      ['1', 40, '10:00', '11:00'],
      ['1', 41, '11:00', 'infinity'],
      ['2', 40, '10:00', '11:00'],
    ])
  })

  test('have a character in full where it is shown: numbers, professions, skills and quests', async () => {
    const full = {
      ...hero,
      skillPoints: { strength: 40, defense: 5 },
      professions: { fishing: { level: 30, xpPercent: 12.5 } },
      dungeons: { total: 2, list: { 'Some Dungeon': 2 } },
      quests: ['Quest A', 'Quest B', 'Quest A'],
    }
    await syncPlayer(world, 1, profile(1, { characters: { [characterId(1)]: full } }), '10:00')
    const skills = () =>
      rows(`select counter, value from game.character_counter where counter like 'skillPoints.%' order by 1`)
    expect(await skills()).toEqual([
      ['skillPoints.agility', 0],
      ['skillPoints.defence', 5],
      ['skillPoints.dexterity', 0],
      ['skillPoints.intelligence', 0],
      ['skillPoints.strength', 40],
    ])
    const hides = { ...full, skillPoints: { error: 'This player limits it.' }, quests: ['Quest A', 'Quest C'] }
    await confirmPlayer(world, 1, profile(1, { characters: { [characterId(1)]: hides } }), '11:10')
    expect(await skills()).toEqual([])
    expect(await rows('select counter, observed_at, value from game.character_counter order by 1, 2')).toEqual([
      ['dungeons.list.Some Dungeon', '10:00', 2],
      ['dungeons.total', '10:00', 2],
      ['xp', '10:00', 5_000_000_000],
    ])
    expect(await rows('select profession, level, xp_percent from game.character_profession')).toEqual([
      ['fishing', 30, 12.5],
    ])
    expect(await rows('select quest, observed_at from game.character_quest order by 1')).toEqual([
      ['Quest A', '10:00'],
      ['Quest B', '10:00'],
      ['Quest C', '11:00'],
    ])
    expect(await characters()).toEqual([['1', 40, '10:00', 'infinity']])
  })

  test('with one character that cannot be read keep the others, and that one too', async () => {
    const [one, two] = [characterId(1), characterId(2)]
    await syncPlayer(world, 1, profile(1, { characters: { [one]: hero, [two]: hero } }), '10:00')
    const spoilt = { [one]: { ...hero, level: 50 }, [two]: { ...hero, level: 'high' }, 'no uuid': hero }
    for (const at of ['11:00', '12:00', '13:00'])
      expect(await syncPlayer(world, 1, profile(1, { characters: spoilt }), at)).toMatchObject({ status: 'partial' })
    expect(await characters()).toEqual([
      ['1', 40, '10:00', '11:00'],
      ['1', 50, '11:00', 'infinity'],
      ['2', 40, '10:00', '11:00'],
      ['2', null, '11:00', 'infinity'],
    ])
    expect(await rows('select extra from game.player_character where extra is not null')).toEqual([[{ level: 'high' }]])
    expect(await rows('select path from sync.quarantine order by 1')).toEqual([['/characters/no uuid']])
  })

  test('have unknown fields kept and reported once', async () => {
    await syncPlayer(
      world,
      1,
      profile(1, { newThing: 'x', characters: { [characterId(1)]: { ...hero, odd: 'y' } } }),
      '10:00',
    )
    expect(await rows('select extra from game.player')).toEqual([[{ newThing: 'x' }]])
    expect(await rows('select extra from game.player_character')).toEqual([[{ odd: 'y' }]])
    expect(await rows('select path from sync.drift order by 1')).toContainEqual(['/newThing'])
  })

  test('that are private leave an observation and stay as they were; those that are gone end', async () => {
    await syncPlayer(world, 1, profile(1), '10:00')
    expect(await syncPlayer(world, 1, null, '11:00', 403)).toMatchObject({ status: 'unchanged' })
    expect(await rows('select status, reason is not null from sync.observation order by received_at')).toEqual([
      ['ok', false],
      ['hidden', true],
    ])
    expect(await rows('select valid_until from game.player')).toEqual([['infinity']])
    await syncPlayer(world, 1, null, '12:00')
    expect(await rows('select valid_until from game.player')).toEqual([['infinity']])
    await syncPlayer(world, 1, null, '13:00')
    expect(await rows('select valid_until from game.player')).toEqual([['12:00']])
  })

  test('are asked for in order of urgency: who is there without a name, who left and may be hidden, who came, who is there, the rest', async () => {
    await syncGuild(world, guildBody('a', { 4: { rank: 'owner' }, 5: {} }), '09:50')
    await syncOnline(world, onlineBody({ EU1: [1, 3] }, 1), '10:00')
    await syncPlayer(world, 3, profile(3, { online: true, lastJoin: '09:00' }), '10:00:20')
    await syncOnline(world, onlineBody({ EU1: [2, 3, 4] }, 1), '10:00:30')
    await players.plan(world.db, new Date(instantOf('10:01')))
    expect(
      await rows(`select right(key, 1), weight from sync.work_item where resource = 'players' order by 2 desc, 1`),
    ).toEqual([
      ['2', 60],
      ['1', 50],
      ['4', 20],
      ['3', 3],
      ['5', 1],
    ])
    expect(await players.countNameless?.(world.db)).toBe(1)
    await syncPlayer(world, 2, profile(2, { online: true, lastJoin: '10:00' }), '10:02')
    expect(await players.countNameless?.(world.db)).toBe(0)
    const later = new Date(instantOf('03 10:00'))
    await syncPlayer(world, 1, profile(1), '10:05')
    await players.plan(world.db, later)
    expect(await rows(`select weight from sync.work_item where key = '${playerId(1)}'`)).toEqual([[1]])
    await syncPlayers(world, { limit: 1 })
  })

  test('are found by uuid or name, all of them when several bear it, and former bearers when nobody does', async () => {
    await syncPlayer(world, 1, profile(1, { username: 'Twin' }), '10:00')
    await syncPlayer(world, 2, profile(2, { username: 'Twin' }), '10:00')
    await syncPlayer(world, 3, profile(3, { username: 'Before' }), '10:00')
    await syncPlayer(world, 3, profile(3, { username: 'After' }), '11:00')
    const found = async (name: string) => (await players.find(world.db, name)).map(({ key, label }) => [key, label])
    expect(await found('twin')).toEqual([
      [playerId(1), 'Twin'],
      [playerId(2), 'Twin'],
    ])
    expect(await found('Before')).toEqual([[playerId(3), 'Before']])
    expect(await found(playerId(3).toUpperCase())).toEqual([[playerId(3), 'After']])
    expect(await found('Nobody')).toEqual([])
  })

  test('have a biography of names, guilds and ranks', async () => {
    const guild = { uuid: guildId('a'), name: 'Guild a', prefix: 'aaa', rank: 'RECRUIT', rankStars: '' }
    await syncPlayer(world, 1, profile(1), '10:00')
    await syncPlayer(world, 1, profile(1, { guild }), '11:00')
    await syncPlayer(world, 1, profile(1, { guild, wallpaper: 'other' }), '12:00')
    await syncPlayer(world, 1, profile(1, { guild: { ...guild, rank: 'CHIEF' }, username: 'Renamed' }), '13:00')
    expect(await rows(`select * from analytics.player_biography('${playerId(1)}')`)).toEqual([
      ['10:00', '11:00', 'Player1', null, null, null, '10:00'],
      ['11:00', '13:00', 'Player1', guildId('a'), 'Guild a', 'recruit', '12:00'],
      ['13:00', null, 'Renamed', guildId('a'), 'Guild a', 'chief', '13:00'],
    ])
  })

  test('have no period in a biography because one response lacks the guild, or responses lack the name', async () => {
    const guild = { uuid: guildId('a'), name: 'Guild a', prefix: 'aaa', rank: 'RECRUIT', rankStars: '' }
    const biography = async () =>
      (await rows(`select * from analytics.player_biography('${playerId(1)}')`)).map((row) => row.slice(0, 6))
    const whole = ['10:00', null, 'Player1', guildId('a'), 'Guild a', 'recruit']
    await syncPlayer(world, 1, profile(1, { guild }), '10:00')
    await syncPlayer(world, 1, profile(1, { guild: undefined }), '11:00')
    expect(await biography()).toEqual([whole])
    await syncPlayer(world, 1, profile(1, { guild }), '12:00')
    for (const at of ['13:00', '14:00']) await syncPlayer(world, 1, profile(1, { guild, username: null }), at)
    expect(await biography()).toEqual([whole])
    for (const at of ['15:00', '16:00']) await syncPlayer(world, 1, profile(1, { guild: null }), at)
    expect(await biography()).toEqual([
      ['10:00', '15:00', 'Player1', guildId('a'), 'Guild a', 'recruit'],
      ['15:00', null, 'Player1', null, null, null],
    ])
  })

  test('have the same biography when the ledger has expired', async () => {
    const guild = { uuid: guildId('a'), name: 'Guild a', prefix: 'aaa', rank: 'RECRUIT', rankStars: '' }
    const biography = () => rows(`select * from analytics.player_biography('${playerId(1)}')`)
    await syncPlayer(world, 2, profile(2), '09:00')
    await syncPlayer(world, 1, profile(1, { guild }), '10:00')
    await syncPlayer(world, 1, profile(1), '11:00')
    for (const at of ['12:00', '13:00']) await syncPlayer(world, 1, profile(1, { guild }), at)
    for (const at of ['14:00', '06 10:00']) await syncPlayer(world, 1, profile(1), at)
    for (const at of ['07 10:00', '28 10:00']) await syncPlayer(world, 1, profile(1, { guild }), at)
    const periods = (all: readonly unknown[][]) => all.map((row) => row.slice(0, 6))
    const before = await biography()
    expect(before).toEqual([
      ['10:00', '14:00', 'Player1', guildId('a'), 'Guild a', 'recruit', '13:00'],
      ['14:00', '07 10:00', 'Player1', null, null, null, '06 10:00'],
      ['07 10:00', null, 'Player1', guildId('a'), 'Guild a', 'recruit', '28 10:00'],
    ])
    for (const until of ['05 00:00', '20 00:00', '21 00:00']) {
      await expireLedger(world.db, players, new Date(instantOf(until)))
      // How long it was shown becomes a lower bound.
      expect(periods(await biography())).toEqual(periods(before))
    }
    // The first, the one that a version rests on, the latest that changed anything, and the latest.
    const left = "select observed_at from sync.observation where resource = 'players' order by 1"
    expect(await rows(left)).toEqual([['09:00'], ['11:00'], ['07 10:00'], ['28 10:00']])
  })
})
