import { describe, expect, test } from 'vitest'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { ofPart } from '../support/parts.ts'
import { type Online, onlineBody, syncOnline } from '../support/player-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

/** Sixty players on six worlds. */
const worldNames = ['EU1', 'EU2', 'NA1', 'NA2', 'AS1', 'AS2']
const usual: Online = Object.fromEntries(
  worldNames.map((world, nth) => [world, Array.from({ length: 10 }, (_, player) => 10 * nth + player + 1)]),
)
const invented: Online = Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [`X${nth}`, [nth + 1]]))

describe.each(kindsAtNight)('what one list of players online must not conclude, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows } = world
  const online = (at: string, who: Online, hidden?: number | null) => syncOnline(world, onlineBody(who, hidden), at)
  const lifecycle = () => rows('select world, event, at, not_before from analytics.world_lifecycle order by at, world')
  const sessions = () =>
    rows(
      'select listed_from, logout_earliest, logout_latest, is_open, count(*)::int from analytics.player_session group by 1, 2, 3, 4 order by 1, 2',
    )
  const samples = () => rows('select observed_at, total, listed, hidden from game.online_sample order by 1')
  const claims = () => rows('select kind, subject, times from sync.claim order by 1, 2')

  test('a restart of the network leaves its trace: sessions end, samples say so, worlds go down and come back', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    const short: Online[] = [{}, { EU1: [1] }, {}, { EU1: [2, 3], EU2: [4] }]
    for (let minute = 2; minute < 22; minute++)
      expect(await online(`10:${String(minute).padStart(2, '0')}`, short[minute % 4] ?? {})).toMatchObject({
        rejected: 0,
        quarantined: 0,
      })
    for (const at of ['10:22', '10:23', '10:24']) await online(at, usual)
    expect((await lifecycle()).filter(([name]) => name === 'NA1')).toEqual([
      ['NA1', 'down', '10:02', '10:01'],
      ['NA1', 'up', '10:22', '10:21'],
    ])
    expect(await rows('select world from analytics.world order by 1')).toEqual(
      [...worldNames].sort().map((name) => [name]),
    )
    expect(await sessions()).toContainEqual(['10:00', '10:01', expect.any(String), false, expect.any(Number)])
    expect(
      await rows(
        "select count(*)::int from analytics.player_session where is_open and listed_from = '10:00'::text::time + date '2026-06-01'",
      ),
    ).toEqual([[0]])
    expect((await samples()).slice(0, 3)).toEqual([
      ['10:00', 60, 60, 0],
      ['10:02', 0, 0, 0],
      ['10:03', 3, 3, 0],
    ])
    expect(await claims()).toEqual([])
  })

  test.each([undefined, null, 'players', 5, [{ uuid: 'x' }]])(
    'what stands for the map of players and is none ends nothing, however often it comes: %j',
    async (players) => {
      const few: Online = { EU1: [1, 2, 3], NA1: [4] }
      for (const at of ['10:00', '10:01']) await online(at, few)
      for (const at of ['10:02', '10:03', '10:04', '10:05', '10:20'])
        expect(await syncOnline(world, { total: 4, players }, at)).toMatchObject({ status: 'rejected' })
      await online('10:21', few)
      expect(await lifecycle()).toEqual([])
      expect(await sessions()).toEqual([['10:00', null, null, true, 4]])
      expect(await samples()).toEqual([['10:00', 4, 4, 0]])
    },
  )

  test('a player who is listed twice is one, on no world where these differ, and tells nothing of the hidden', async () => {
    const [first, other] = ['aaaaaaaa-0000-4000-8000-00000000000b', 'aaaaaaaa-0000-4000-8000-00000000000c']
    await syncOnline(world, { total: 2, players: { [first]: 'EU1', [other]: 'NA1' } }, '10:00')
    const again = { [first.toUpperCase()]: 'EU2', [first.replaceAll('-', '')]: 'EU1' }
    await syncOnline(world, { total: 4, players: { [first]: 'EU1', [other]: 'NA1', ...again } }, '10:01')
    await syncOnline(world, { total: 2, players: { [first]: 'EU1', [other]: 'NA1' } }, '10:02')
    expect(await samples()).toEqual([
      ['10:00', 2, 2, 0],
      ['10:01', 4, 2, null],
      ['10:02', 2, 2, 0],
    ])
    expect(await rows('select * from game.player_hop')).toEqual([])
    expect(await rows('select count(*)::int from game.player_listing')).toEqual([[2]])
  })

  test('most players on one world that no other response shows made no hop', async () => {
    const few: Online = { EU1: [1, 2, 3], NA1: [4, 5, 6] }
    for (const at of ['10:00', '10:01']) await online(at, few)
    await online('10:02', { 1: [1, 2, 3, 4, 5, 6] })
    for (const at of ['10:03', '10:04']) await online(at, few)
    expect(await rows('select * from game.player_hop')).toEqual([])
    expect(await lifecycle()).toEqual([])
  })

  test.each([
    ['empty', {}],
    ['short', { EU1: [1, 2] }],
  ] as const)('one %s list whose total agrees ends no session and no world', async (_name, short) => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    expect(await online('10:02', short)).toMatchObject({ rejected: 0, closed: 0, events: 0 })
    await online('10:03', usual)
    expect(await lifecycle()).toEqual([])
    expect(await sessions()).toEqual([['10:00', null, null, true, 60]])
    expect(await claims()).toEqual([])
  })

  test('a third of the players whom one list lacks, with a total that agrees, have not left, but two lists without them are believed', async () => {
    const fewer = Object.fromEntries(
      worldNames.map((world, nth) => [world, usual[world]?.slice(0, nth % 2 ? 6 : 7) ?? []]),
    )
    for (const at of ['10:00', '10:01']) await online(at, usual)
    await online('10:02', fewer)
    await online('10:03', usual)
    expect(await sessions()).toEqual([['10:00', null, null, true, 60]])
    expect(await lifecycle()).toEqual([])
    expect(await claims()).toEqual([])
    for (const at of ['10:04', '10:05']) await online(at, fewer)
    expect(await sessions()).toEqual([
      ['10:00', '10:03', '10:05', false, 21],
      ['10:00', null, null, true, 39],
    ])
  })

  test('as many of a list ten minutes before may have left, and a few may from one minute to the next', async () => {
    await online('10:00', usual)
    await online('10:10', { ...usual, EU1: [], EU2: usual.EU2?.slice(5) ?? [] })
    expect((await sessions()).map(([, , , isOpen, count]) => [isOpen, count])).toEqual([
      [false, 15],
      [true, 45],
    ])
    await online('10:20', usual)
    await online('10:21', { ...usual, EU1: [1] })
    expect(await sessions()).toContainEqual(['10:20', '10:20', '10:21', false, 9])
  })

  test('of lists hours apart, one that lacks most players ends their sessions: those who are back later were away', async () => {
    const others: Online = { EU1: [1, 2, 3], NA1: Array.from({ length: 50 }, (_, nth) => 100 + nth) }
    for (const [at, who] of [
      ['10:00', usual],
      ['14:00', others],
      ['18:00', usual],
    ] as const)
      await online(at, who)
    expect(await sessions()).toEqual([
      ['10:00', '10:00', '14:00', false, 57],
      ['10:00', null, null, true, 3],
      ['14:00', '14:00', '18:00', false, 50],
      ['18:00', null, null, true, 57],
    ])
    expect(await claims()).toEqual([])
  })

  test('copies of one cache window are one list', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    for (const at of ['10:02', '10:02:10', '10:02:20']) await online(at, {})
    await online('10:03', usual)
    expect(await lifecycle()).toEqual([])
    expect(await sessions()).toEqual([['10:00', null, null, true, 60]])
  })

  test('an empty list is no history to begin with', async () => {
    expect(await online('10:00', {})).toMatchObject({ status: 'rejected' })
  })

  test('sixty worlds that one list invents leave no event, no hop and no number', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    expect(await online('10:02', invented)).toMatchObject({
      inserted: 0,
      events: 0,
      guarded: expect.arrayContaining([
        { guard: 'plausibility', action: 'pending', reason: expect.stringContaining('new: 60 records of 60') },
      ]),
    })
    for (const at of ['10:03', '10:04']) await online(at, usual)
    expect(await lifecycle()).toEqual([])
    expect(await rows('select * from game.player_hop')).toEqual([])
    expect(await rows('select distinct world, online from game.world_sample order by 1')).toEqual(
      [...worldNames].sort().map((name) => [name, 10]),
    )
    expect(await sessions()).toEqual([['10:00', null, null, true, 60]])
    expect(await claims()).toEqual([])
  })

  test('worlds that two lists show are up since the first, with hops and numbers', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    const moved = { ...usual, EU1: [1, 2, 3], NEW: [4, 5, 6, 7, 8, 9, 10] }
    for (const at of ['10:02', '10:03']) await online(at, moved)
    expect(await lifecycle()).toEqual([['NEW', 'up', '10:02', '10:01']])
    expect(
      await rows(
        'select from_world, to_world, earliest, latest, count(*)::int from game.player_hop group by 1, 2, 3, 4',
      ),
    ).toEqual([['EU1', 'NEW', '10:01', '10:02', 7]])
    expect(await rows("select observed_at, online from game.world_sample where world = 'NEW'")).toEqual([['10:02', 7]])
    expect(await claims()).toEqual([])
  })

  test('who is first listed on a new world was on it', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    for (const at of ['10:02', '10:03']) await online(at, { ...usual, NEW: [99] })
    expect(
      await rows("select world, last_world from analytics.player_session where listed_from > '2026-06-01T10:01Z'"),
    ).toEqual([['NEW', 'NEW']])
  })

  test('a list that one player without a world makes incomplete says nothing of a new world, but not for ever', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    await online('10:02', { ...usual, NEW: [99] })
    await online('10:03', { ...usual, '-': [98] })
    expect(await claims()).toEqual([['appeared', 'NEW', 1]])
    await online('11:30', { ...usual, '-': [98] })
    expect(await claims()).toEqual([])
    expect(await rows("select * from game.world_sample where world = 'NEW'")).toEqual([])
  })

  test('a total of which no list tells is not believed at once, and its list ends nobody', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    const most: Online = { ...usual, EU1: [], EU2: [] }
    expect(await online('10:02', most, 700)).toMatchObject({
      status: 'partial',
      error: expect.stringContaining('the API counts 740 players and lists 40'),
      closed: 0,
      events: 0,
    })
    expect((await samples()).at(-1)).toEqual(['10:02', null, 40, null])
    await online('10:03', usual)
    expect(await sessions()).toEqual([['10:00', null, null, true, 60]])
    expect(await claims()).toEqual([])
    expect((await samples()).at(-1)).toEqual(['10:03', 60, 60, 0])
  })

  test('a total that stays far above the list is believed from the third response on', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    for (const [at, hidden] of [
      ['10:02', 700],
      ['10:03', 720],
      ['10:04', 690],
      ['10:05', 700],
    ] as const)
      await online(at, usual, hidden)
    expect(await samples()).toEqual([
      ['10:00', 60, 60, 0],
      ['10:02', null, 60, null],
      ['10:04', 750, 60, 690],
      ['10:05', 760, 60, 700],
    ])
    const without: Online = { ...usual, EU1: [] }
    for (const at of ['10:06', '10:07', '10:08']) await online(at, without, 700)
    expect(await lifecycle()).toEqual([['EU1', 'down', '10:06', '10:05']])
    await online('10:09', usual)
    expect(await claims()).toEqual([['appeared', 'EU1', 1]])
  })

  test('a total that is another one each time is never believed, but worlds go down and sessions end', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    const without: Online = { ...usual, EU1: [] }
    const gaps = [700, 100, 2000, 300, 5000]
    for (const [nth, hidden] of gaps.entries())
      expect(await online(`10:0${nth + 2}`, nth < 2 ? usual : without, hidden)).toMatchObject({ status: 'partial' })
    expect((await samples()).map(([, total]) => total)).toEqual([60, null, null])
    expect(await lifecycle()).toEqual([['EU1', 'down', '10:04', '10:03']])
    expect(await rows('select count(*)::int from game.player_listing where last_listed_at is not null')).toEqual([[10]])
  })

  test('a total of a million beside ten players is never believed, and hides no world that goes', async () => {
    const ten: Online = { EU1: [1, 2, 3, 4, 5], NA1: [6, 7, 8, 9, 10] }
    for (const at of ['10:00', '10:01', '10:02', '10:03'])
      expect(await online(at, ten, 999_990)).toMatchObject({ status: 'partial', quarantined: 1 })
    expect(await samples()).toEqual([['10:00', null, 10, null]])
    for (const at of ['10:04', '10:05']) await online(at, { EU1: [1, 2, 3, 4, 5] }, 999_995)
    expect(await lifecycle()).toEqual([['NA1', 'down', '10:04', '10:03']])
  })

  describe('heals, or is a gap with its reason, when for a month', () => {
    const few: Online = { EU1: [1, 2, 3] }
    const month = async (body: object) => {
      await setExpectedInterval(world.db, {
        resource: 'online-players',
        everySeconds: 6 * 3600,
        setBy: 'sync',
        at: new Date(0),
      })
      for (const at of ['00:00', '06:00']) await online(at, usual)
      const statuses: string[] = []
      for (let day = 2; day <= 29; day++)
        for (const hour of ['00', '06', '12', '18']) {
          const { status, error } = await syncOnline(world, body, `${String(day).padStart(2, '0')} ${hour}:00`)
          statuses.push(error === undefined ? status : `${status}: ${error}`)
        }
      for (const at of ['30 00:00', '30 06:00']) await online(at, usual)
      return { first: statuses[0], last: statuses.at(-1) }
    }
    const upIn = (at: string) =>
      rows(`select count(*)::int from game.world where valid_from <= '2026-06-${at}' and valid_until > '2026-06-${at}'`)
    const gaps = () => rows('select distinct reason from sync.gap')

    test.each(
      ofPart({
        quick: [
          ['the list is short, and its total agrees', onlineBody(few), 'ok', 'unchanged'],
          ['a short list has no total', onlineBody(few, null), 'rejected: 1 record where', 'unchanged'],
        ],
        rest: [
          ['the list is empty, and its total agrees', onlineBody({}), 'ok', 'unchanged'],
          ['more are counted than are likely', onlineBody(few, 700), 'rejected: 1 record where', 'unchanged'],
        ],
      }),
    )(
      '%s',
      async (_name, body, first, last) => {
        const statuses = await month(body)
        expect(statuses).toMatchObject({ first: expect.stringContaining(first), last: expect.stringContaining(last) })
        expect(await upIn('15T00:00Z')).toEqual([['players' in body && JSON.stringify(body).includes('EU1') ? 1 : 0]])
        expect(await upIn('30T12:00Z')).toEqual([[6]])
        expect(await claims()).toEqual([])
        expect(await rows('select count(*)::int from analytics.player_session where is_open')).toEqual([[60]])
      },
      120_000,
    )

    test('the total is beyond all bounds, which the status says each time', async () => {
      const statuses = await month(onlineBody(few, 999_990))
      expect(statuses.last).toContain('partial: 1 records could not be understood')
      expect(await upIn('15T00:00Z')).toEqual([[1]])
    })

    test('the body is an empty object', async () => {
      const statuses = await month({})
      expect(statuses.last).toBe('rejected: the response holds no records')
      expect(await gaps()).toContainEqual(['the response holds no records'])
      expect(await upIn('30T12:00Z')).toEqual([[6]])
    })
  })

  test('a world that a list lacks is missed also where another one is new', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    await online('10:02', { ...usual, EU1: [], NEW: [99] })
    expect((await claims()).map(([kind, subject]) => [kind, subject])).toEqual(
      expect.arrayContaining([
        ['appeared', 'NEW'],
        ['missing', 'EU1'],
      ]),
    )
  })

  test('what short lists without a total lack ends after ten minutes', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    for (let minute = 2; minute <= 15; minute++)
      await online(`10:${String(minute).padStart(2, '0')}`, { EU1: [1, 2, 3] }, null)
    expect((await lifecycle()).filter(([name]) => name === 'NA1')).toEqual([['NA1', 'down', '10:04', '10:01']])
  })

  test('many who are counted and not listed in one response have not left', async () => {
    for (const at of ['10:00', '10:01']) await online(at, usual)
    const truncated: Online = { ...usual, EU1: [], EU2: [1] }
    expect(await online('10:02', truncated, 19)).toMatchObject({ events: expect.any(Number) })
    await online('10:03', usual)
    expect(await rows("select * from game.player_listing where first_listed_at > '2026-06-01T10:00Z'")).toEqual([])
  })
})
