import { describe, expect, test } from 'vitest'
import { guildBody, guildId, type MemberFields, playerId, syncGuild } from '../support/guild-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { type SyncOptions, worldOf } from '../support/world.ts'

type Members = Readonly<Record<number, MemberFields>>

const numbers = [1, 2, 3, 4, 5, 6, 7]
/** Seven members, each with fields of its own. */
const seven = (fields: (number: number) => MemberFields): Members =>
  Object.fromEntries(
    numbers.map((number) => [number, { ...(number === 1 ? { rank: 'owner' } : {}), ...fields(number) }]),
  )

describe.each(kindsOfLongTests)('what one response must not change of members, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows } = world
  const sync = (players: Members, at: string, fields: object = {}, options: SyncOptions = {}) =>
    syncGuild(world, guildBody('a', players, fields), at, options)
  const events = () =>
    rows(
      'select event, username, from_rank, to_rank, at, observed_at from analytics.membership_event order by 6, 5, 2, 1',
    )
  const versions = (number: number) =>
    rows(
      `select username, rank, joined, valid_from, valid_until from game.guild_member where player_uuid = '${playerId(number)}' order by 4`,
    )
  const claims = () => rows('select kind, subject, value, times from sync.claim order by 1, 2, 3')
  const contributions = () =>
    rows(
      `select username, contributed, quality from analytics.member_contribution('${guildId('a')}', '2026-06-01', '2026-06-02') order by 1`,
    )

  const usual = seven((number) => ({ joined: '00:00', contributed: 100 * number }))

  test.each([
    ['lies long ago', '00:01'],
    ['is that of the response', '10:05'],
  ])('another time of joining of all that %s is no leaving and no joining', async (_name, joined) => {
    await sync(usual, '10:00')
    const other = seven((number) => ({ joined, contributed: 100 * number + 1 }))
    expect(await sync(other, '10:05')).toMatchObject({
      events: 0,
      guarded: [{ guard: 'plausibility', action: 'pending', reason: expect.stringContaining('another joined of 7') }],
    })
    expect(await events()).toEqual([])
    expect(await rows('select distinct joined_at from analytics.guild_member')).toEqual([['00:00']])
    await sync(
      seven((number) => ({ joined: '00:00', contributed: 100 * number + 2 })),
      '10:10',
    )
    expect(await events()).toEqual([])
    expect(await claims()).toEqual([])
    expect(await rows('select count(*)::int from game.guild_member')).toEqual([[7]])
    expect(await contributions()).toEqual(numbers.map((number) => [`Player${number}`, 100 * number + 2, 'at_least']))
  })

  test('another time of joining of all is believed from the second response on, dated by the first', async () => {
    await sync(usual, '10:00')
    const other = seven(() => ({ joined: '10:03', contributed: 1 }))
    for (const at of ['10:05', '10:10', '10:15']) await sync(other, at)
    expect(await versions(2)).toEqual([
      ['Player2', 'recruit', '00:00', '10:00', '10:05'],
      ['Player2', 'recruit', '10:03', '10:05', 'infinity'],
    ])
    expect(await claims()).toEqual([])
    expect(await events()).toHaveLength(14)
  })

  test('copies of one cache window are one response', async () => {
    await sync(usual, '10:00')
    const other = seven(() => ({ joined: '10:03' }))
    for (const at of ['10:05', '10:05:30', '10:06']) await sync(other, at)
    expect(await events()).toEqual([])
    expect(await rows('select distinct kind, times from sync.claim')).toEqual([['joined', 1]])
  })

  describe('where most members are others at once', () => {
    const others = Object.fromEntries(
      [11, 12, 13, 14, 15, 16].map((number) => [number, { joined: '09:00', contributed: 5 * number }]),
    )
    const strange = { 1: { rank: 'owner', joined: '00:00', contributed: 100 }, ...others }
    const counted = () =>
      rows(
        `select count(distinct player_uuid)::int, max(value)::int from game.member_counter where counter = 'contributed'`,
      )

    test('after one response alone no player joined and none left', async () => {
      await sync(usual, '10:00')
      expect(await sync(strange, '10:05')).toMatchObject({
        events: 0,
        guarded: [
          { guard: 'plausibility', action: 'pending', reason: expect.stringContaining('new: 6 records of 7') },
          { guard: 'absence', action: 'pending' },
        ],
      })
      expect(await counted()).toEqual([[7, 700]])
      for (const at of ['10:10', '10:15']) await sync(usual, at)
      expect(await events()).toEqual([])
      expect(await claims()).toEqual([])
      expect(await rows('select count(*)::int from game.guild_member')).toEqual([[7]])
      expect(await counted()).toEqual([[7, 700]])
    })

    test('a second response is believed, and dates them by the first', async () => {
      await sync(usual, '10:00')
      for (const at of ['10:05', '10:06', '10:10']) await sync(strange, at)
      expect(await versions(12)).toEqual([['Player12', 'recruit', '09:00', '10:05', 'infinity']])
      expect(await versions(2)).toEqual([['Player2', 'recruit', '00:00', '10:00', '10:05']])
      expect(await events()).toHaveLength(12)
      expect(await claims()).toEqual([])
    })

    test.each([
      ['that a person accepts', '10:05', { accept: true }],
      ['a day later', '02 10:05', {}],
    ])('a response %s is believed at once', async (_name, at, options) => {
      await sync(usual, '10:00')
      await sync(strange, at, {}, options)
      expect(await versions(12)).toEqual([['Player12', 'recruit', '09:00', at, 'infinity']])
    })
  })

  test('who joined again since the last response left before, at once', async () => {
    await sync(usual, '10:00')
    await sync({ ...usual, 2: { joined: '10:02', rank: 'recruiter' } }, '10:05')
    const rejoined = [
      ['joined', 'Player2', null, 'recruiter', '10:02', '10:05'],
      ['left', 'Player2', 'recruit', null, '10:02', '10:05'],
    ]
    expect(await events()).toEqual(rejoined)
    await sync({ ...usual, 2: { joined: '10:02', rank: 'recruiter' } }, '10:10')
    expect(await events()).toEqual(rejoined)
    expect(await claims()).toEqual([])
  })

  test('who seemed to join again in one response was there all along', async () => {
    await sync(usual, '10:00')
    await sync({ ...usual, 2: { joined: '10:02' } }, '10:05')
    await sync(usual, '10:10')
    expect(await events()).toEqual([])
    expect(await versions(2)).toEqual([['Player2', 'recruit', '00:00', '10:00', 'infinity']])
    expect(await claims()).toEqual([])
  })

  test('also who was missing before, and seemed to join again', async () => {
    const { 2: _, ...others } = usual
    await sync(usual, '10:00')
    await sync(others, '10:05')
    await sync({ ...usual, 2: { joined: '10:07' } }, '10:10')
    await sync(usual, '10:15')
    expect(await events()).toEqual([])
    expect(await versions(2)).toEqual([['Player2', 'recruit', '00:00', '10:00', 'infinity']])
  })

  test('a time of joining from before the last response needs a second one, also of one member', async () => {
    await sync(usual, '10:00')
    await sync({ ...usual, 2: { joined: '07:00' } }, '10:05')
    expect(await events()).toEqual([])
    await sync({ ...usual, 2: { joined: '08:00' } }, '10:10')
    expect(await claims()).toMatchObject([
      ['joined', `${guildId('a')}/${playerId(2)}`, expect.stringContaining('08:00'), 1],
    ])
    await sync({ ...usual, 2: { joined: '08:00' } }, '10:15')
    expect(await versions(2)).toEqual([
      ['Player2', 'recruit', '00:00', '10:00', '10:10'],
      ['Player2', 'recruit', '08:00', '10:10', 'infinity'],
    ])
  })

  test('other ranks of all, and back, are no events', async () => {
    await sync(usual, '10:00')
    const other = seven(() => ({ rank: 'recruiter' }))
    expect(await sync(other, '10:05')).toMatchObject({ events: 0 })
    expect(await rows('select distinct rank from analytics.guild_member order by 1')).toEqual([['owner'], ['recruit']])
    await sync(usual, '10:10')
    expect(await events()).toEqual([])
    expect(await claims()).toEqual([])
    for (const at of ['10:15', '10:20']) await sync(other, at)
    expect(await events()).toHaveLength(7)
    expect(await rows('select distinct at from analytics.membership_event')).toEqual([['10:15']])
  })

  test('after days without a response many ranks may have changed; where the next one shows those before, none had', async () => {
    await sync(usual, '10:00')
    const other = seven(() => ({ rank: 'recruiter' }))
    await sync(other, '03 10:00')
    expect(await events()).toHaveLength(7)
    await sync(usual, '03 11:00')
    expect(await events()).toEqual([])
    expect(await claims()).toEqual([])
  })

  test('two members who have the times of joining and ranks of each other in one response were not promoted', async () => {
    const members = { ...usual, 2: { rank: 'chief', joined: '02:00' }, 3: { rank: 'captain', joined: '03:00' } }
    await sync(members, '10:00')
    await sync({ ...members, 2: members[3], 3: members[2] }, '10:05')
    await sync(members, '10:10')
    expect(await events()).toEqual([])
    expect(await claims()).toEqual([])
    for (const at of ['10:15', '10:20']) await sync({ ...members, 2: { rank: 'captain', joined: '03:00' } }, at)
    expect(await versions(2)).toEqual([
      ['Player2', 'chief', '02:00', '10:00', '10:15'],
      ['Player2', 'captain', '03:00', '10:15', 'infinity'],
    ])
  })

  test('two promotions in one response are ordinary, and dated by it', async () => {
    await sync(usual, '10:00')
    const promoted = { ...usual, 2: { rank: 'captain' }, 3: { rank: 'captain' } }
    expect(await sync(promoted, '10:05')).toMatchObject({ events: 2, guarded: [] })
    await sync(promoted, '10:10')
    expect(await events()).toEqual([
      ['promoted', 'Player2', 'recruit', 'captain', '10:05', '10:05'],
      ['promoted', 'Player3', 'recruit', 'captain', '10:05', '10:05'],
    ])
    expect(await claims()).toEqual([])
  })

  test.each([
    ['one response', ['10:02']],
    ['two responses, each another one,', ['10:02', '10:14']],
  ])('a time of joining that %s showed is taken back, with the rank', async (_name, joinings) => {
    await sync({ ...usual, 2: { rank: 'captain' } }, '10:00')
    for (const [nth, joined] of joinings.entries()) await sync({ ...usual, 2: { joined } }, `10:${10 + nth * 5}`)
    expect(await sync({ ...usual, 2: { rank: 'captain' } }, '10:30')).toMatchObject({
      events: 0,
      guarded: [
        { guard: 'plausibility', action: 'withdrawn', reason: expect.stringContaining('another joined of 1') },
        { guard: 'plausibility', action: 'withdrawn', reason: expect.stringContaining('another rank of 1') },
      ],
    })
    expect(await events()).toEqual([])
    expect(await versions(2)).toEqual([['Player2', 'captain', '00:00', '10:00', 'infinity']])
    expect(await claims()).toEqual([])
    expect(await sync({ ...usual, 2: { rank: 'captain' } }, '10:35')).toMatchObject({ status: 'unchanged' })
  })

  test('the rank of an earlier spell takes back none of a new one', async () => {
    const { 2: _, ...others } = usual
    await sync(usual, '10:00')
    await sync(others, '10:05')
    await sync({ ...usual, 2: { joined: '10:06', rank: 'captain' } }, '10:07')
    await sync({ ...usual, 2: { joined: '10:06' } }, '10:08')
    expect(await events()).toContainEqual(['joined', 'Player2', null, 'captain', '10:06', '10:07'])
    expect(await events()).toContainEqual(['demoted', 'Player2', 'captain', 'recruit', '10:08', '10:08'])
  })

  test('a time of joining is taken back where the name changed with it, and the name stays', async () => {
    await sync(usual, '10:00')
    await sync({ ...usual, 2: { joined: '10:02', username: 'Other' } }, '10:05')
    const renamed = { ...usual, 2: { username: 'Other' } }
    await sync(renamed, '10:10')
    expect(await events()).toEqual([])
    const expected = [
      ['Player2', 'recruit', '00:00', '10:00', '10:05'],
      ['Other', 'recruit', '00:00', '10:05', 'infinity'],
    ]
    expect(await versions(2)).toEqual(expected)
    for (const at of ['10:15', '10:20']) await sync(renamed, at)
    expect(await versions(2)).toEqual(expected)
    expect(await claims()).toEqual([])
  })

  test('a rank that two responses showed stays, and the one before it is another promotion', async () => {
    await sync(usual, '10:00')
    const captain = { ...usual, 2: { rank: 'captain' } }
    for (const at of ['10:05', '10:10']) await sync(captain, at)
    for (const at of ['10:15', '10:20']) await sync(usual, at)
    expect(await events()).toEqual([
      ['promoted', 'Player2', 'recruit', 'captain', '10:05', '10:05'],
      ['demoted', 'Player2', 'captain', 'recruit', '10:15', '10:15'],
    ])
  })

  test('a name that changes with a time of joining that is not believed is stored, once', async () => {
    await sync(usual, '10:00')
    await sync({ ...usual, 2: { joined: '07:00', username: 'Other' } }, '10:05')
    const renamed = { ...usual, 2: { username: 'Other' } }
    for (const at of ['10:10', '10:15']) await sync(renamed, at)
    expect(await versions(2)).toEqual([
      ['Player2', 'recruit', '00:00', '10:00', '10:05'],
      ['Other', 'recruit', '00:00', '10:05', 'infinity'],
    ])
  })

  test.each([
    ['waits', { joined: '07:00' }, 'joined', '00:00'],
    ['was loaded', { joined: '10:02' }, 'shown', '10:02'],
  ])(
    'nothing is claimed any more of a member who left, where another time of joining %s',
    async (_name, fields, claim, joined) => {
      const { 2: _, ...others } = usual
      await sync(usual, '10:00')
      await sync({ ...usual, 2: fields }, '10:05')
      expect((await claims()).map(([kind]) => kind)).toEqual([claim])
      for (const at of ['10:10', '10:15']) await sync(others, at)
      expect((await versions(2)).at(-1)?.slice(2)).toEqual([joined, expect.any(String), '10:10'])
      expect(await claims()).toEqual([])
    },
  )

  test('a person may accept it at once', async () => {
    await sync(usual, '10:00')
    await sync(
      seven(() => ({ rank: 'recruiter' })),
      '10:05',
      {},
      { accept: true },
    )
    expect(await events()).toHaveLength(7)
    expect(await claims()).toEqual([])
  })

  test('other times of joining that come and go for a month invent nothing', async () => {
    await sync(usual, '10:00')
    for (let day = 2; day <= 30; day++)
      for (const [hour, joined] of [
        ['08', `0${1 + (day % 7)}:00`],
        ['16', '00:00'],
      ] as const)
        await sync(
          seven(() => ({ joined })),
          `${String(day).padStart(2, '0')} ${hour}:00`,
        )
    expect(await events()).toEqual([])
    expect(await claims()).toEqual([])
    expect(await rows('select count(*)::int from game.guild_member')).toEqual([[7]])
  })
})
