import { describe, expect, test } from 'vitest'
import { guilds } from '../../src/resources/guilds/index.ts'
import { inProfiles } from '../../src/resources/personal.ts'
import { players } from '../../src/resources/players/index.ts'
import { personKept, purge } from '../../src/sync/privacy/person.ts'
import { applyPrivacyRules } from '../../src/sync/privacy/privacy.ts'
import { hashOf } from '../../src/sync/privacy/privacy-actions.ts'
import {
  answerGuild,
  guildBody,
  guildId,
  type MemberFields,
  playerId,
  syncGuild,
  syncGuilds,
} from '../support/guild-answers.ts'
import { confirmPlayer, onlineBody, profile, syncOnline, syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import {
  characterRules,
  fullMember,
  fullProfile,
  guildWithMember,
  mainFields,
  profilesHiding,
  secrets,
  showEverything,
  whereStored,
} from '../support/private-player.ts'
import { contentOf, headersOf, instantOf, worldOf } from '../support/world.ts'

describe.each(kindsOfLongTests)('what a player restricts, on the %s database,', (kind) => {
  const world = Object.assign(worldOf(kind), { raw: true })
  const { rows } = world
  const actions = () =>
    rows('select field_group, policy, rows > 0, right(player_uuid::text, 1) from sync.privacy_action order by at, 1')
  const restrictions = () =>
    rows(
      `select right(player_uuid::text, 1), field_group, split_part(told_by, '/', 1), since from sync.privacy_restriction order by 1, 2, 3`,
    )

  test.each(Object.keys(profilesHiding))(
    '%s, is in no table any more, and what is not restricted stays',
    async (rule) => {
      await showEverything(world)
      const restricted: readonly string[] = Object.entries(secrets).find(([name]) => name === rule)?.[1] ?? []
      const texts = (hits: readonly string[]) =>
        [...new Set(hits.map((hit) => hit.slice(hit.indexOf(': ') + 2)))].sort()
      const ofOthers = Object.entries(secrets).filter(
        ([name]) => !characterRules.includes(name) || !characterRules.includes(rule),
      )
      const others = [...new Set(ofOthers.flatMap(([, values]) => [...values]))].filter(
        (one) => !restricted.includes(one),
      )
      expect(texts(await whereStored(world.db, [...restricted, ...others]))).toEqual([...restricted, ...others].sort())
      await confirmPlayer(world, 1, { ...profilesHiding[rule]?.(), restrictions: { [rule]: true } }, '10:00')
      expect(await whereStored(world.db, restricted)).toEqual([])
      expect(texts(await whereStored(world.db, others))).toEqual([...others].sort())
      expect(await actions()).toContainEqual([rule, 'anonymize', true, '1'])
      expect(await restrictions()).toEqual([['1', rule, 'players', '09:50']])
    },
  )

  test.each([null, { uuid: guildId('a'), name: 'Guild a' }])(
    'about former guilds, takes those of which a profile of 2023 has only the names, with %j today',
    async (guild) => {
      const before = { name: 'Guild Before', prefix: 'bbb', rank: 'RECRUIT', rankStars: '' }
      await syncPlayer(world, 1, profile(1, { guild: before }), '08:00')
      for (const at of ['08:10', '08:20']) await syncPlayer(world, 1, profile(1, { guild }), at)
      expect(await whereStored(world.db, ['Guild Before'])).not.toEqual([])
      await confirmPlayer(world, 1, profile(1, { guild, restrictions: { guildHistoryAccess: true } }), '10:00')
      expect(await whereStored(world.db, ['Guild Before'])).toEqual([])
      const [now] = await rows(`select guild_name from game.player where valid_until = 'infinity'`)
      expect(now).toEqual([guild?.name ?? null])
    },
  )

  test('in a guild, goes from profiles too, and other members keep theirs', async () => {
    await showEverything(world)
    const hides = { main_access: true, online_status: true, guild_high_ranked_access: true }
    for (const at of ['09:50', '10:00'])
      await syncGuild(world, guildWithMember({ contributed: 6, restrictions: hides }), at)
    const secret = [...secrets.mainAccess, ...secrets.onlineStatus, ...secrets.guildHighRankedAccess]
    expect(await whereStored(world.db, secret)).toEqual([])
    // The body that something was removed from says so, and is another one than what the API sends since.
    expect(await whereStored(world.db, ['OTHER', '80004'])).toHaveLength(5)
    expect(
      await rows(
        `select counter, value from game.member_counter where player_uuid = '${playerId(1)}' order by observed_at`,
      ),
    ).toEqual([
      ['contributed', 0],
      ['contributed', 5],
      ['contributed', 6],
    ])
    expect((await restrictions()).map(([, group]) => group)).toEqual([
      'guildHighRankedAccess',
      'mainAccess',
      'onlineStatus',
    ])
  })

  test('stays away whatever other answers show, until the one that told takes it back', async () => {
    await showEverything(world)
    const hidden = {
      ...profilesHiding.mainAccess?.(),
      restrictions: { mainAccess: true, onlineStatus: true },
      online: false,
      server: null,
    }
    await confirmPlayer(world, 1, { ...hidden, lastJoin: null, activeCharacter: null }, '10:00')
    await syncGuild(world, guildWithMember({ ...fullMember, contributed: 6 }), '10:01')
    await syncOnline(world, onlineBody({ SECRET1: [1] }), '10:02')
    await syncGuild(world, guildWithMember({ ...fullMember, contributed: 6 }), '10:10')
    expect(await whereStored(world.db, [...secrets.mainAccess, ...secrets.onlineStatus])).toEqual([])
    await syncPlayer(world, 1, fullProfile(), '10:50')
    expect(await restrictions()).toHaveLength(2)
    expect(await whereStored(world.db, [...secrets.mainAccess, ...secrets.onlineStatus])).toEqual([])
    await syncPlayer(world, 1, fullProfile(), '11:00')
    expect(await restrictions()).toEqual([])
    // The guild says what it said before, and is believed now.
    await syncGuild(world, guildWithMember({ ...fullMember, contributed: 6 }), '11:10')
    await syncOnline(world, onlineBody({ SECRET1: [1] }), '11:11')
    expect(await whereStored(world.db, ['70001', '70002', '70003', '70004', '2014-11-11'])).not.toEqual([])
    expect(
      await rows('select value, observed_at from game.member_counter where value = 70004 order by player_uuid'),
    ).toEqual([[70004, '11:10']])
    expect(await rows('select first_listed_at from game.player_listing')).toEqual([['11:11']])
  })

  test('comes back in the profile when the guild is the last to say so', async () => {
    await showEverything(world)
    for (const at of ['09:50', '10:00'])
      await syncGuild(world, guildWithMember({ contributed: 6, restrictions: { main_access: true } }), at)
    await syncPlayer(world, 1, fullProfile(), '10:10')
    expect(await whereStored(world.db, secrets.mainAccess)).toEqual([])
    for (const at of ['10:50', '11:00']) await syncGuild(world, guildWithMember({ ...fullMember, contributed: 6 }), at)
    await syncPlayer(world, 1, fullProfile(), '11:10')
    expect(
      await rows(`select first_join is null, valid_until from game.player order by valid_from desc limit 1`),
    ).toEqual([[false, 'infinity']])
    expect(await rows(`select value, observed_at from game.player_counter where counter = 'playtime'`)).toEqual([
      [70001, '11:10'],
    ])
  })

  test('goes when the API refuses the whole profile (403) twice', async () => {
    await showEverything(world)
    await syncPlayer(world, 1, null, '10:00', 403)
    expect([await restrictions(), await actions()]).toEqual([[], []])
    await syncPlayer(world, 1, null, '10:05', 403)
    expect(await whereStored(world.db, secrets.mainAccess)).toEqual([])
    expect(await restrictions()).toEqual([['1', 'mainAccess', 'players', '10:05']])
    await syncPlayer(world, 1, null, '10:10', 403)
    expect(await actions()).toEqual([['mainAccess', 'anonymize', true, '1']])
    await confirmPlayer(world, 1, fullProfile(), '11:00')
    expect(await restrictions()).toEqual([])
    expect(await whereStored(world.db, ['70001'])).not.toEqual([])
  })

  test('is no change of the player where only the restriction is new, and writes nothing when it is said again', async () => {
    await showEverything(world)
    const hidden = { ...profilesHiding.mainAccess?.(), restrictions: { mainAccess: true } }
    await confirmPlayer(world, 1, hidden, '10:00')
    const once = await contentOf(world.db)
    expect(await syncPlayer(world, 1, hidden, '10:10')).toMatchObject({ status: 'unchanged', changed: 0 })
    const twice = await contentOf(world.db)
    for (const table of ['sync.observation', 'sync.work_item', 'sync.gap'])
      for (const one of [once, twice]) delete one[table]
    expect(twice).toEqual(once)
  })

  test('is also gone from what could not be understood, what is new, and what no rule is known for', async () => {
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner', novelty: 'SECRET1' } }), '09:00')
    await syncPlayer(world, 1, { ...fullProfile(), shiny: 'SECRET2', stays: 'NOSECRET' }, '09:10')
    await syncPlayer(world, 1, { ...fullProfile(), characters: { unnamed: { nickname: 'SECRET3' } } }, '09:20')
    const badMember = guildBody('a', { 1: { rank: 'owner' } })
    Object(badMember).members.owner.Player1.joined = 'SECRET4'
    await syncGuild(world, badMember, '09:30')
    expect(await whereStored(world.db, ['SECRET1', 'SECRET2', 'SECRET3', 'SECRET4', 'NOSECRET'])).not.toEqual([])
    expect(await rows('select count(*)::int from sync.quarantine')).toEqual([[2]])
    const hidden = { ...profilesHiding.onlineStatus?.(), stays: 'NOSECRET', restrictions: { onlineStatus: true } }
    await confirmPlayer(world, 1, hidden, '10:00')
    for (const at of ['10:10', '10:20'])
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner', restrictions: { online_status: true } } }), at)
    const left = await whereStored(world.db, ['SECRET1', 'SECRET2', 'SECRET3', 'SECRET4'])
    // What is not restricted was not hidden by anybody: only the program could not read it.
    expect(left).toEqual(['raw answers: SECRET3', 'raw answers: SECRET4'])
    expect(await rows(`select distinct extra from game.player where extra is not null`)).toEqual([
      [{ stays: 'NOSECRET' }],
    ])
    expect(await rows('select reason, raw from sync.quarantine')).toEqual([
      ['removed for privacy', null],
      ['removed for privacy', null],
    ])
    expect(await rows('select path from sync.drift order by 1')).toContainEqual(['/shiny'])
  })

  test('is also gone where it is new inside of what is counted, whichever response hides it, with the character whose it is', async () => {
    const character = { type: 'MAGE', professions: { fishing: { level: 2, title: 'TITLE3' } } }
    await syncGuild(world, guildWithMember({ ...fullMember, globalData: { wars: 4, title: 'TITLE1' } }), '09:00')
    const shown = { globalData: { title: 'TITLE2' }, characters: { [playerId(7)]: character } }
    await syncPlayer(world, 1, profile(1, shown), '09:10')
    expect(await whereStored(world.db, ['TITLE1', 'TITLE2', 'TITLE3', playerId(7)])).not.toEqual([])
    const hides = { mainAccess: true, characterListAccess: true }
    await confirmPlayer(world, 1, profile(1, { globalData: null, restrictions: hides }), '10:00')
    expect(await whereStored(world.db, ['TITLE1', 'TITLE2', 'TITLE3', playerId(7)])).toEqual([])
  })

  test('by a rule that nobody knows takes nothing but what no rule is known for', async () => {
    await showEverything(world)
    await syncPlayer(world, 1, { ...fullProfile(), wardrobe: 'SECRET5' }, '09:30')
    await confirmPlayer(world, 1, { ...fullProfile(), restrictions: { wardrobeAccess: true } }, '10:00')
    expect(await whereStored(world.db, ['SECRET5'])).toEqual([])
    expect(await whereStored(world.db, ['70001'])).not.toEqual([])
    expect(await actions()).toEqual([['wardrobeAccess', 'anonymize', true, '1']])
  })

  test('makes the program forget the player so far, where that is the policy', async () => {
    await showEverything(world)
    await confirmPlayer(
      world,
      1,
      { ...profilesHiding.mainAccess?.(), restrictions: { mainAccess: true } },
      '10:00',
      'delete',
    )
    expect(
      await whereStored(world.db, [...secrets.mainAccess, secrets.onlineStatus[1], ...secrets.guildHistoryAccess]),
    ).toEqual([])
    expect(await rows('select valid_from, guild_name, restricted from game.player')).toEqual([
      ['10:00', 'Guild a', ['mainAccess']],
    ])
    expect(await rows('select field_group, policy, player_uuid, run_id is null from sync.privacy_action')).toEqual([
      ['everything', 'delete', null, false],
    ])
    // The guild's answer is the same as before, and is taken in anew.
    await syncGuild(world, guildWithMember(fullMember), '10:10')
    expect(await rows(`select valid_from from game.guild_member where player_uuid = '${playerId(1)}'`)).toEqual([
      ['10:10'],
    ])
    expect(
      await rows(
        `select value, observed_at from game.member_counter where player_uuid = '${playerId(1)}' and counter <> 'weekly.streak'`,
      ),
    ).toEqual([[5, '10:10']])
  })

  test('purged by hand is gone without a name, is not brought back by old answers, and is recorded anew by later ones', async () => {
    await showEverything(world)
    await confirmPlayer(world, 1, { ...profilesHiding.mainAccess?.(), restrictions: { mainAccess: true } }, '10:00')
    await syncPlayer(world, 2, profile(2, mainFields), '10:00')
    const [own] = (await contentOf(world.db))['game.player_counter'] ?? []
    const at = new Date(instantOf('11:00'))
    const removed = await world.db.transaction((sql) => purge(sql, inProfiles, { playerUuid: playerId(1), at }))
    expect(removed.map(({ table }) => table)).toContain('game.player_character')
    expect(await whereStored(world.db, [playerId(1)])).toEqual([])
    expect(await whereStored(world.db, [playerId(2)])).not.toEqual([])
    expect((await contentOf(world.db))['game.player_counter']).toContainEqual(own)
    const kept = await personKept(world.db, inProfiles, playerId(1))
    expect([kept.tables, kept.restrictions]).toEqual([[], []])
    expect(kept.removals.map(({ fieldGroup, policy }) => [fieldGroup, policy])).toEqual([
      ['mainAccess', 'anonymize'],
      ['everything', 'purge'],
    ])
    expect(
      await rows(
        `select count(*)::int from sync.privacy_action where encode(player_hash, 'hex') = '${hashOf(playerId(1))}'`,
      ),
    ).toEqual([[2]])
    // Recorded before, loaded now.
    await syncPlayer(world, 1, fullProfile(), '09:50')
    await syncGuild(world, guildBody('c', { 1: { rank: 'owner', ...fullMember } }), '10:50')
    // That they were asked for is in the ledger; what they said is nowhere.
    expect((await personKept(world.db, inProfiles, playerId(1))).tables.map(({ table }) => table).sort()).toEqual([
      'sync.observation',
      'sync.work_item',
    ])
    await syncGuild(world, guildWithMember(fullMember), '11:10')
    await syncPlayer(world, 1, fullProfile(), '11:10')
    expect(await whereStored(world.db, ['70001', '70004'])).not.toEqual([])
    expect(await rows(`select valid_from from game.guild_member where player_uuid = '${playerId(1)}'`)).toEqual([
      ['11:10'],
    ])
  })

  test('purged by rule leaves the rest', async () => {
    await showEverything(world)
    const at = new Date(instantOf('11:00'))
    await world.db.transaction((sql) =>
      purge(sql, inProfiles, { playerUuid: playerId(1), fieldGroup: 'mainAccess', at }),
    )
    expect(await whereStored(world.db, secrets.mainAccess)).toEqual([])
    expect(await whereStored(world.db, secrets.onlineStatus)).not.toEqual([])
    expect(await actions()).toEqual([['mainAccess', 'purge', true, null]])
  })

  test('goes although an answer that shows it is being taken in at the same time', async () => {
    await showEverything(world)
    const hidden = { ...profilesHiding.mainAccess?.(), restrictions: { mainAccess: true } }
    await syncPlayer(world, 1, hidden, '09:50')
    let goOn = () => {}
    const paused = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const telling = (record: object) => ({
      extraction: { records: [record], complete: true, observedFrom: 0, observedAt: instantOf('10:00'), pages: 1 },
      receivedAt: instantOf('10:00'),
      runId: guildId('f'),
    })
    const shows = world.db.transaction(async (sql) => {
      const { eraseHidden } = await applyPrivacyRules(sql, guilds, {
        ...telling(guildWithMember(fullMember)),
        scope: guildId('a'),
      })
      await sql.query(`insert into game.member_counter values ($1, $2, 'late', $3, 70004)`, [
        guildId('a'),
        playerId(1),
        new Date(instantOf('10:00')),
      ])
      await paused
      await eraseHidden()
    })
    const restricts = world.db.transaction(async (sql) => {
      await (await applyPrivacyRules(sql, players, { ...telling(hidden), scope: playerId(1) })).eraseHidden()
    })
    goOn()
    await Promise.all([shows, restricts])
    expect(await whereStored(world.db, ['70004'])).toEqual([])
  })

  test.each([false, true])(
    'goes from archived responses that nest thousands of levels deep, too (purged: %s)',
    async (isPurged) => {
      const levels = 20_000
      const deep = '['.repeat(levels) + ']'.repeat(levels)
      const syncDeep = async (member: MemberFields, at: string) => {
        const body = guildBody('a', { 1: { rank: 'owner', ...member }, 2: { odd: 'DEEP' } })
        const key = await answerGuild(world, body, at)
        const text = JSON.stringify(body).replace('"DEEP"', deep)
        world.sandbox.setAnswer(`/guild/uuid/${key}`, () => ({ headers: headersOf(instantOf(at), 120), body: text }))
        return await syncGuilds(world, { keys: [key] })
      }
      const partial = { status: 'partial', quarantined: 1 }
      expect(await syncDeep({ globalData: { wars: 70_777 } }, '10:00')).toMatchObject(partial)
      expect(await whereStored(world.db, ['70777'])).toContain('raw answers: 70777')
      if (isPurged) {
        const person = { playerUuid: playerId(1), at: new Date(instantOf('10:10')) }
        await world.db.transaction((sql) => purge(sql, inProfiles, person))
      } else
        for (const at of ['10:10', '10:20'])
          expect(await syncDeep({ restrictions: { main_access: true } }, at)).toMatchObject(partial)
      expect(await whereStored(world.db, ['70777'])).toEqual([])
    },
  )

  test('is looked for in every table that has players in it', async () => {
    const tables = await rows(
      `select distinct attrelid::regclass::text from pg_attribute join pg_class on pg_class.oid = attrelid
        where attname = 'player_uuid' and relkind in ('r', 'p') and not relispartition
          and relnamespace::regnamespace::text = 'game' order by 1`,
    )
    expect(tables.flat()).toEqual(inProfiles.tables.map(({ table }) => table).sort())
  })
})
