import { describe, expect, test } from 'vitest'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { answerGuild, guildBody, guildId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { syncPlayer } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { notFound, notOfTheApplication, owner, refusingWorld, shown } from '../support/refusing-world.ts'
import { headersOf, instantOf } from '../support/world.ts'

describe.each(kindsOfLongTests)('refusals of guilds on the %s database', (kind) => {
  const { world, rows, guildAnswers, at, askGuild, counters, ends, pending } = refusingWorld(kind)

  test('end a guild when the application has twice not known it, ten minutes apart', async () => {
    await syncGuild(world, guildBody('a', owner), '10:00')
    guildAnswers('a', notFound)
    for (const when of ['10:10', '10:13', '10:19:59']) expect(await askGuild(when)).toMatchObject({ closed: 0 })
    expect(await askGuild('10:20')).toMatchObject({ closed: 3 })
    expect(await ends()).toEqual([['10:10'], ['10:10'], ['10:10']])
    expect(await rows('select gone_at, reload from sync.work_item')).toEqual([['10:10', true]])
  })

  test('end members whom the last response about the guild lacked when it first lacked them', async () => {
    await syncGuild(world, guildBody('a', owner), '10:00')
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '10:10')
    guildAnswers('a', notFound)
    for (const when of ['10:20', '10:30']) await askGuild(when)
    expect(await rows('select right(player_uuid::text, 1), valid_until from game.guild_member order by 1')).toEqual([
      ['1', '10:20'],
      ['2', '10:10'],
    ])
    expect(
      await rows('select right(player_uuid::text, 1), at, not_before from analytics.membership_event order by 1, 2'),
    ).toContainEqual(['2', '10:10', '10:00'])
  })

  test.each(notOfTheApplication(404).map((answer, nth) => [nth, answer] as const))(
    'of whoever stands before it end nothing (%i)',
    async (_nth, answer) => {
      await syncGuild(world, guildBody('a', owner), '10:00')
      guildAnswers('a', answer)
      for (const when of ['10:10', '10:30', '10:50']) expect(await askGuild(when)).toMatchObject({ status: 'failed' })
      expect(await ends()).toEqual([['infinity'], ['infinity'], ['infinity']])
      expect(await syncGuild(world, guildBody('a', owner), '11:00')).toMatchObject({ status: 'unchanged' })
    },
  )

  test('end no guild that a later list of all guilds still names', async () => {
    const listed = { [guildId('a')]: { name: 'Guild a', prefix: 'aaa' }, [guildId('b')]: { name: 'B', prefix: 'bbb' } }
    await world.sync(guildList, listed, '09:50')
    await syncGuild(world, guildBody('a', owner), '10:00')
    guildAnswers('a', notFound)
    await askGuild('10:10')
    await world.sync(guildList, listed, '10:15')
    for (const when of ['10:20', '10:30', '11:00', '12:00']) await askGuild(when)
    expect(await ends()).toEqual([['infinity'], ['infinity'], ['infinity']])
    const { [guildId('a')]: _, ...others } = listed
    await world.sync(guildList, others, '12:15')
    await askGuild('12:20')
    expect(await ends()).toEqual([['10:10'], ['10:10'], ['10:10']])
  })

  test('end no guild that a list names which comes while the end of the run is awaited', async () => {
    const listed = { [guildId('a')]: { name: 'Guild a', prefix: 'aaa' }, [guildId('b')]: { name: 'B', prefix: 'bbb' } }
    await world.sync(guildList, listed, '09:50')
    for (const letter of 'ab') await syncGuild(world, guildBody(letter, owner), '10:00')
    guildAnswers('a', notFound)
    await askGuild('10:10')
    await at('10:30')
    world.sandbox.setAnswer(`/guild/uuid/${guildId('b')}`, async () => {
      await world.sync(guildList, listed, '10:29')
      return { headers: headersOf(world.clock.now(), 120), body: guildBody('b', owner) }
    })
    await syncGuilds(world, { keys: [guildId('a'), guildId('b')] })
    expect(await rows('select distinct valid_until from game.guild')).toEqual([['infinity']])
  })

  test('that ended a guild are undone by the next answer, also by the same as before', async () => {
    await syncGuild(world, guildBody('a', owner), '10:00')
    guildAnswers('a', notFound)
    for (const when of ['10:10', '10:20']) await askGuild(when)
    expect(await syncGuild(world, guildBody('a', owner), '10:30')).toMatchObject({ status: 'ok', inserted: 1 })
    expect(await rows(`select valid_from, valid_until from game.guild_member order by 2, 1`)).toEqual([
      ['10:00', '10:10'],
      ['10:00', '10:10'],
      ['10:30', 'infinity'],
      ['10:30', 'infinity'],
    ])
    expect(await rows('select gone_at, reload from sync.work_item')).toEqual([[null, false]])
    expect(await syncGuild(world, guildBody('a', owner), '10:40')).toMatchObject({ status: 'unchanged' })
  })

  test('that ended a guild are not undone by a copy from before', async () => {
    await syncGuild(world, guildBody('a', owner), '10:00')
    guildAnswers('a', notFound)
    for (const when of ['10:10', '10:20']) await askGuild(when)
    await answerGuild(world, guildBody('a', { ...owner, 3: {} }), '10:09')
    await at('10:30')
    await syncGuilds(world, { keys: [guildId('a')] })
    expect(await ends()).toEqual([['10:10'], ['10:10'], ['10:10']])
    await syncGuild(world, guildBody('a', owner), '10:40')
    expect(await rows(`select valid_from from game.guild where valid_until = 'infinity'`)).toEqual([['10:40']])
  })

  test('from before the last response about a guild end nothing, nor does a later one, which is the first', async () => {
    await syncGuild(world, guildBody('a', owner), '12:00')
    for (const [now, from] of [
      ['12:10', '11:10'],
      ['12:30', '11:40'],
      ['12:50', '11:59'],
    ] as const) {
      guildAnswers('a', { ...notFound, headers: headersOf(instantOf(from), 3600) })
      expect(await askGuild(now)).toMatchObject({ status: 'stale' })
    }
    expect([await pending(), new Set((await ends()).flat())]).toEqual([[], new Set(['infinity'])])
    guildAnswers('a', { ...notFound, headers: headersOf(instantOf('13:00'), 3600) })
    await askGuild('13:10')
    expect([await pending(), new Set((await ends()).flat())]).toEqual([[['0', 'gone']], new Set(['infinity'])])
    guildAnswers('a', { ...notFound, headers: headersOf(instantOf('13:20'), 3600) })
    await askGuild('13:30')
    expect(new Set((await ends()).flat())).toEqual(new Set(['13:00']))
  })

  test('that ended a guild leave what its members restrict', async () => {
    const hides = { 1: { rank: 'owner', restrictions: { main_access: true } } }
    for (const when of ['09:50', '10:00']) await syncGuild(world, guildBody('a', hides), when)
    guildAnswers('a', notFound)
    for (const when of ['10:10', '10:20']) await askGuild(when)
    await syncPlayer(world, 1, shown(1), '10:30')
    expect(await counters()).toEqual([])
    expect(await rows('select field_group, told_by from sync.privacy_restriction')).toEqual([
      ['mainAccess', `guilds/${guildId('a')}`],
    ])
  })

  test('of a clock that is days ahead or behind leave the next answer welcome', async () => {
    for (const [letter, date] of [
      ['a', 'Mon, 08 Jun 2026 10:00:00 GMT'],
      ['b', 'Mon, 25 May 2026 10:00:00 GMT'],
    ] as const) {
      await syncGuild(world, guildBody(letter, owner), '10:00')
      guildAnswers(letter, { ...notFound, headers: { date } })
    }
    for (const when of ['10:10', '10:20']) for (const one of ['a', 'b']) await askGuild(when, one)
    for (const one of ['a', 'b'])
      expect(await syncGuild(world, guildBody(one, owner), '10:30')).toMatchObject({ status: 'unchanged' })
    expect(await rows(`select prefix from game.guild where valid_until = 'infinity' order by 1`)).toEqual([
      ['aaa'],
      ['bbb'],
    ])
  })
})
