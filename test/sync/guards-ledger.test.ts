import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { answerGuild, guildBody, guildId, type MemberFields, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { incomplete, instantOf, item, worldOf } from '../support/world.ts'

const all = ['Ash', 'Elm', 'Oak', 'Yew'].map((name) => item(name))
const two = all.slice(0, 2)
const strict = { plausibleShare: 0.9 }

describe.each(kindsOfLongTests)('the ledger of guards on the %s database', (kind) => {
  const world = worldOf(kind)
  const { sync, rows, versions } = world
  const actions = async (columns = 'guard, reason') =>
    await rows(`select ${columns} from sync.guard_action order by at, reason desc`)

  describe('says that an older answer was refused,', () => {
    const refused = ['staleness', 'response speaks for 2026-06-01T11:00:00.000Z, before 2026-06-01T12:00:00.000Z']

    test('by whom and when, and nothing of the good one that follows', async () => {
      await sync(items, all, '12:00')
      await sync(items, two, '11:00')
      expect(await sync(items, [...all, item('Fir')], '13:00')).toMatchObject({ status: 'ok', inserted: 1 })
      expect(await actions('resource, key, guard, reason, at')).toEqual([['items', null, ...refused, '12:00']])
      const [[stale] = []] = await rows(`select run_id from sync.run where status = 'stale'`)
      expect(await actions('run_id')).toEqual([[stale]])
    })

    test('also when a person accepts what looks implausible', async () => {
      await sync(items, all, '12:00')
      expect(await sync(items, two, '11:00', { accept: true })).toMatchObject({ status: 'stale' })
      expect(await actions()).toEqual([refused])
    })
  })

  describe('says that an implausible answer was rejected,', () => {
    const said = '2 records where the last good response had 4'
    const rejected = ['plausibility', `${said}; if that is right, sync with --accept`]

    test('once per run, until a good one comes', async () => {
      await sync(items, all, '10:00', strict)
      await sync(items, two, '11:00', strict)
      await sync(items, two, '12:00', strict)
      await sync(items, [], '13:00', strict)
      expect(await sync(items, [...all, item('Fir')], '14:00', strict)).toMatchObject({ status: 'ok', inserted: 1 })
      expect(await actions()).toEqual([rejected, rejected, ['plausibility', 'the response holds no records']])
    })

    test('or that a person took it all the same: this one, and the next of its kind is measured by it', async () => {
      await sync(items, all, '10:00', strict)
      await sync(items, two, '11:00', { ...strict, accept: true })
      expect(await actions()).toContainEqual(['plausibility', `${said}; accepted, because a person accepts it`])
      expect(await sync(items, all.slice(0, 1), '12:00', strict)).toMatchObject({ status: 'rejected' })
      expect(await versions()).toHaveLength(4)
    })

    test('by the share that is set for the resource, where one is', async () => {
      await sync(items, all, '10:00')
      const shares = { ...strict, plausibleShares: { items: 0.5, recipes: 1 } }
      expect(await sync(items, two, '11:00', shares)).toMatchObject({ status: 'unchanged' })
      expect(await sync(items, two.slice(0, 1), '12:00', { ...strict, plausibleShares: { items: 1 } })).toMatchObject({
        status: 'rejected',
      })
    })

    const short = guildBody('a', { 1: { rank: 'owner' } }, { members: { total: 3, owner: {} } })
    const whole = guildBody('a', { 1: { rank: 'owner' }, 2: {}, 3: {} })
    const shortfall = 'the guild has 3 members by its own count, 0 came'
    const members = () => rows(`select count(*) from game.guild_member where valid_until = 'infinity'`)

    test('for the key whose members are fewer than their total, and goes on with the next good one', async () => {
      await syncGuild(world, whole, '10:00')
      expect(await syncGuild(world, short, '10:10')).toMatchObject({ status: 'partial', rejected: 1, closed: 0 })
      expect(await syncGuild(world, short, '10:20')).toMatchObject({ rejected: 1, closed: 0 })
      expect(await syncGuild(world, guildBody('a', { 1: { rank: 'owner' }, 2: {} }), '10:30')).toMatchObject({
        status: 'unchanged',
      })
      expect(await members()).toEqual([[3]])
      expect(await actions('key, guard, reason')).toEqual([
        [guildId('a'), 'plausibility', shortfall],
        [guildId('a'), 'plausibility', shortfall],
        [guildId('a'), 'absence', 'missing: 1 member; not ended before 2 responses in a row lack the same'],
      ])
    })

    test('for a key until three in a row say the same: then it is loaded, and nothing that it lacks is ended', async () => {
      const listed = guildBody('a', { 1: { rank: 'owner' }, 2: {} }, { prefix: 'NEW' }) as { members: object }
      const other = { ...listed, members: { ...listed.members, total: 3 } }
      await syncGuild(world, whole, '10:00')
      expect(await syncGuild(world, other, '10:10')).toMatchObject({ rejected: 1 })
      // A cached copy is no response of its own.
      expect(await syncGuild(world, other, '10:10')).toMatchObject({ rejected: 1 })
      expect(await syncGuild(world, other, '10:20')).toMatchObject({ rejected: 1 })
      for (const at of ['10:30', '10:40', '10:50'])
        expect(await syncGuild(world, other, at)).toMatchObject({ rejected: 0, closed: 0 })
      expect(await members()).toEqual([[3]])
      expect(await rows(`select prefix from game.guild where valid_until = 'infinity'`)).toEqual([['NEW']])
      expect(await rows('select distinct kind from sync.claim')).toEqual([['flawed']])
      expect(
        await rows(`select distinct guard, action, reason from sync.guard_action where action like 'accepted%'`),
      ).toEqual([
        [
          'plausibility',
          'accepted after agreement',
          'the guild has 3 members by its own count, 2 came; accepted, because three responses in a row agree, but nothing it lacks is ended',
        ],
      ])
    })

    test('for a key once, which is asked once however often it is named', async () => {
      await syncGuild(world, whole, '10:00')
      const key = await answerGuild(world, short, '10:10')
      expect(await syncGuilds(world, { keys: [key, key] })).toMatchObject({ rejected: 1 })
      expect(await actions()).toEqual([['plausibility', shortfall]])
    })

    test('or that a person took the short list of a guild', async () => {
      await syncGuild(world, whole, '10:00')
      expect(await syncGuild(world, short, '10:10', { accept: true })).toMatchObject({ rejected: 0, closed: 0 })
      expect(await actions()).toEqual([
        ['plausibility', `${shortfall}; accepted, because a person accepts it`],
        ['absence', 'missing: 3 members; not ended before 2 responses in a row lack the same'],
      ])
      expect(await syncGuild(world, short, '10:20')).toMatchObject({ rejected: 1, closed: 0 })
    })
  })

  describe('says that things were missing,', () => {
    const missing = (what: string, times = 2) => [
      'absence',
      `missing: ${what}; not ended before ${times} responses in a row lack the same`,
    ]

    test('once when they wait and once when they end', async () => {
      await sync(items, all, '10:00')
      await sync(items, two, '11:00')
      await sync(items, two, '12:00')
      await sync(items, two, '13:00')
      expect(await actions()).toEqual([
        missing('2 records (Oak, Yew)'),
        ['absence', 'ended: 2 records, when first missed'],
      ])
      expect(await versions()).toContainEqual(['Oak', '10:00', '11:00'])
    })

    test('in each answer as long as they wait, and nothing when they are back', async () => {
      const patient = { absences: 3 }
      await sync(items, all, '10:00', patient)
      await sync(items, all.slice(1), '11:00', patient)
      await sync(items, all.slice(1), '12:00', patient)
      await sync(items, all, '13:00', patient)
      expect(await actions()).toEqual([missing('1 record (Ash)', 3), missing('1 record (Ash)', 3)])
      expect(await versions()).toContainEqual(['Ash', '10:00', 'infinity'])
    })

    test('without naming people, also when somebody had left and joined again', async () => {
      const owner: MemberFields = { rank: 'owner' }
      await syncGuild(world, guildBody('a', { 1: owner, 2: {} }), '10:00')
      await syncGuild(world, guildBody('a', { 1: owner }), '10:10')
      await syncGuild(world, guildBody('a', { 1: owner, 2: { joined: '10:15' } }), '10:20')
      expect(await actions()).toEqual([missing('1 member'), ['absence', 'ended: 1 member, when first missed']])
      expect(await rows(`select valid_until from game.guild_member where joined < '2026-06-01 10:00Z'`)).toEqual([
        ['infinity'],
        ['10:10'],
      ])
    })

    test('of a key that the API does not know any more', async () => {
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '10:00')
      world.sandbox.setAnswer(`/guild/uuid/${guildId('a')}`, null)
      for (const at of ['10:10', '10:20', '10:30']) {
        await world.clock.advanceTo(instantOf(at))
        await syncGuilds(world, { keys: [guildId('a')] })
      }
      const unknown = 'the API does not know it any more'
      expect(await actions('key, reason, at')).toEqual([
        [guildId('a'), `${unknown}; not ended before 2 responses in a row say so`, '10:10'],
        [guildId('a'), `${unknown}; ended with all that belongs to it, when first missed`, '10:20'],
      ])
    })
  })

  describe('says that many counters fell to zero at once,', () => {
    const counted = (one: object, two: object, fields: object = {}) =>
      guildBody('a', { 1: { rank: 'owner', ...one }, 2: { ...two } }, { level: 0, wars: null, raids: null, ...fields })
    const full = counted({ contributed: 50, globalData: { wars: 7 } }, { contributed: 30, globalData: { wars: 0 } })
    const none = counted({ contributed: 0, globalData: { wars: 0 } }, { contributed: 0, globalData: { wars: 0 } })
    const fallen = (fell: number, of: number) => [
      'zero-glitch',
      `${fell} of ${of} counters fell to 0 at once; kept as the response has them, but hardly true`,
    ]

    test('once, keeps what each answer said, and counts nothing twice when they are back', async () => {
      await syncGuild(world, full, '10:00')
      await syncGuild(world, none, '10:10')
      await syncGuild(world, none, '10:20')
      await syncGuild(world, full, '10:30')
      expect(await actions()).toEqual([fallen(3, 3)])
      expect(
        await rows(`select observed_at, value from game.member_counter where counter = 'contributed' and value <> 30
                       and player_uuid::text like '%1' order by 1`),
      ).toEqual([
        ['10:00', 50],
        ['10:10', 0],
        ['10:30', 50],
      ])
      expect(
        await rows(`select contributed, quality from analytics.member_contribution('${guildId('a')}',
                      '2026-06-01 10:05Z', '2026-06-01 10:35Z')`),
      ).toEqual([
        [0, 'clamped'],
        [0, 'clamped'],
      ])
    })

    test('from the share on that is set', async () => {
      const half = counted({ contributed: 50, globalData: { wars: 0 } }, { contributed: 0, globalData: { wars: 0 } })
      for (const [zeroShare, expected] of [
        [0.7, []],
        [0.6, [fallen(2, 3)]],
      ] as const) {
        await syncGuild(world, full, '10:00', { zeroShare })
        await syncGuild(world, half, '10:10', { zeroShare })
        expect(await actions()).toEqual(expected)
        await world.db.query(
          'truncate sync.work_item, game.guild_sample, game.member_counter, game.guild, game.guild_member cascade',
        )
      }
    })

    test('not of one who begins again, nor of what is hidden', async () => {
      await syncGuild(world, full, '10:00')
      await syncGuild(world, counted({ contributed: 50, globalData: { wars: 7 } }, { contributed: 0 }), '10:10')
      await syncGuild(world, counted({ contributed: null, globalData: {} }, { contributed: 0 }), '10:20')
      expect(await actions()).toEqual([])
    })

    test('of a guild itself, and of a player', async () => {
      const numbers = { level: 10, wars: 5, raids: 2 }
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, numbers), '10:00')
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { ...numbers, wars: 0, raids: 0 }), '10:10')
      await syncPlayer(world, 1, profile(1, { playtime: 10, globalData: { wars: 3, chestsFound: 8 } }), '10:20')
      await syncPlayer(world, 1, profile(1, { playtime: 10, globalData: { wars: 0, chestsFound: 0 } }), '10:30')
      expect(await actions()).toEqual([fallen(2, 3), fallen(2, 3)])
      expect(await actions('resource')).toEqual([['guilds'], ['players']])
    })
  })

  describe('says that a walk over pages did not stand still,', () => {
    /** Pages of two; `count` tells how many records the server claims at the nth request. */
    const serve = (count: (request: number) => number, records: readonly object[] = all) => {
      let request = 0
      world.sandbox.setAnswer('/item/database', ({ query }) => {
        const page = Number(query.get('page') ?? 1)
        const next = page * 2 < records.length ? page + 1 : null
        request += 1
        const controller = { count: count(request), pages: 2, current: page, prev: null, next }
        return { body: { controller, results: records.slice(page * 2 - 2, page * 2) } }
      })
    }

    test('when it saw fewer than the API counts, which ends nothing', async () => {
      await sync(items, all, '10:00')
      for (const at of ['11:00', '12:00', '13:00'])
        expect(await sync(items, incomplete(all.slice(1)), at)).toMatchObject({ status: 'partial', closed: 0 })
      const unseen =
        '3 different records came where the API counts 4, read again from the start 3 times; what is missing is not counted as missing'
      expect(await actions()).toEqual([unseen, unseen, unseen].map((reason) => ['walk', reason]))
      expect(await sync(items, all, '14:00')).toMatchObject({ status: 'unchanged', closed: 0 })
      expect(await versions()).toHaveLength(4)
      expect(await rows('select * from sync.claim')).toEqual([])
    })

    test('when one record came twice in the place of another', async () => {
      await sync(items, all, '10:00')
      await world.clock.advanceTo(instantOf('11:00'))
      serve(() => 4, [all[0] ?? {}, all[1] ?? {}, all[1] ?? {}, all[2] ?? {}])
      expect(await world.syncNow(items, { walk: true })).toMatchObject({ status: 'partial', closed: 0 })
      expect(await actions()).toEqual([['walk', expect.stringMatching(/^3 different records came .* counts 4/)]])
      // The fourth may be there: it is known no longer, and not missing.
      expect(await rows('select kind, count(*)::int from sync.claim group by 1')).toEqual([['unread', 1]])
    })

    test('and was read again from the start until it did', async () => {
      serve((request) => (request === 1 ? 5 : 4))
      expect(await world.syncNow(items, { walk: true })).toMatchObject({ status: 'ok', inserted: 4, requests: 4 })
      expect(await actions()).toEqual([
        ['walk', 'the listing changed while it was read; read again from the start 1 time'],
      ])
    })

    test('and moved in every walk: the last one is taken, and nothing it lacks ends', async () => {
      await sync(items, all, '10:00')
      for (const at of ['11:00', '12:00', '13:00']) {
        await world.clock.advanceTo(instantOf(at))
        serve((request) => request + 4, all.slice(1))
        expect(await world.syncNow(items, { walk: true })).toMatchObject({ status: 'partial', closed: 0, unchanged: 3 })
      }
      const moved =
        /^3 different .* counts \d+, read again .* 3 times: the listing moved .*, 4 times in a row: count or pages/
      expect(await actions()).toEqual(Array(3).fill(['walk', expect.stringMatching(moved)]))
      await world.clock.advanceTo(instantOf('14:00'))
      serve(() => 4)
      expect(await world.syncNow(items, { walk: true })).toMatchObject({ status: 'unchanged', closed: 0 })
      expect(await versions()).toHaveLength(4)
    })
  })

  test('is told in the result, and to the log', async () => {
    await sync(items, all, '10:00')
    const { guarded } = await sync(items, all.slice(1), '11:00')
    const reason = 'missing: 1 record (Ash); not ended before 2 responses in a row lack the same'
    expect(guarded).toEqual([{ guard: 'absence', action: 'pending', reason }])
    expect(await actions('action')).toEqual([['pending']])
    expect(world.log).toContain(`info: absence: ${reason}`)
  })
})
