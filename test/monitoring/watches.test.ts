import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { guildColour } from '../../src/drawing/colours.ts'
import { readDeliveries } from '../../src/monitoring/watches/delivery-state.ts'
import { dueOf } from '../../src/monitoring/watches/due.ts'
import { isQuiet, parseQuietHours } from '../../src/monitoring/watches/quiet-hours.ts'
import { items } from '../../src/resources/items/index.ts'
import { latestNews } from '../../src/resources/latest-news/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { answerGuild, guildBody, guildId, type MemberFields, playerId, syncGuilds } from '../support/guild-answers.ts'
import { onlineBody } from '../support/player-answers.ts'
import { kindsOfPart, temporaryFolder } from '../support/postgres.ts'
import { openReceiver } from '../support/receiver.ts'
import { instantOf, item } from '../support/world.ts'

import { watchedWorld } from './watched-world.ts'

const notifies = { notifies: true }
// biome-ignore lint/suspicious/noExplicitAny: bodies of any kind
type Body = any

const textsOf = (body: Body) =>
  body.events.map(({ event, text }: { event: string; text: string }) => `${event}: ${text}`)

describe.each(kindsOfPart)('watches on the %s database', (kind) => {
  const { world, watched, open, oak, setBack } = watchedWorld(kind)

  test('send what happened as one message, nothing of before, nothing late, nothing filtered', async () => {
    const receiver = await openReceiver()
    await oak('a', '09:00', '10:00')
    const target = { type: 'webhook', url: receiver.url, secret: 'of two' }
    const all = await openReceiver()
    const elsewhere = { type: 'webhook', url: all.url }
    const { watching, warnings } = await watched(
      [
        { name: 'mine', events: ['captured', 'lost'], guild: ['aaa'], target },
        { name: 'elm', events: ['captured'], territory: ['Elm'], target },
        { name: 'other', events: ['captured'], guild: [guildId('c')], target },
        { name: 'all', events: ['lost', 'captured'], atLeast: { events: 2, minutes: 10 }, target: elsewhere },
      ],
      { site: 'https://example.org/' },
    )
    await oak('b', '10:30', '11:00')
    await oak('a', '11:00', '11:00:30')
    await watching.look()
    expect(receiver.got).toEqual([])
    await world.clock.advanceTo(instantOf('11:01'))
    await watching.look()
    expect(receiver.got).toHaveLength(1)
    // Each capture is seen from the side of the new holder alone.
    expect(all.got.map(textsOf)).toEqual([
      ['captured: Guild b took Oak from Guild a', 'captured: Guild a took Oak from Guild b'],
    ])
    const [message] = receiver.got as Body[]
    expect(jsonSchemas['watch-message'].safeParse(message).error).toBeUndefined()
    expect(textsOf(message)).toEqual(['lost: Guild a lost Oak to Guild b', 'captured: Guild a took Oak from Guild b'])
    expect(message).toMatchObject({ watch: 'mine', title: 'mine: lost, captured', count: 2 })
    expect(message.events[0]).toMatchObject({ change: 2, url: 'https://example.org/territories/Oak' })
    const { 'webhook-id': id, 'webhook-timestamp': at, ...headers } = receiver.headers[0] ?? {}
    expect([headers['idempotency-key'], message.id]).toEqual([id, id])
    expect(headers['user-agent']).toMatch(/^wynnsync\/\d/)
    const signed = createHmac('sha256', 'of two')
      .update(`${id}.${at}.${JSON.stringify(message)}`)
      .digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signed}`)
    // As of a recording.
    await oak('c', '11:30', '11:31')
    await world.db.query(`update sync.outbox set change = change || '{"late": true}' where number = 4`)
    await world.clock.advanceTo(instantOf('11:40'))
    await watching.look()
    expect(receiver.got).toHaveLength(1)
    expect((await readDeliveries(world.db)).map(({ number, sending }) => [number, sending])).toEqual([
      ...Array(4).fill([4, null]),
    ])
    expect(warnings).toEqual([])
  })

  test('report members, items, worlds, news and who is online, but nothing that a player hides, and nobody who was purged', async () => {
    const receiver = await openReceiver()
    const target = { type: 'webhook', url: receiver.url }
    const members = async (players: Readonly<Record<number, MemberFields>>, at: string) => {
      const key = await answerGuild(world, guildBody('a', players), at)
      await syncGuilds(world, { keys: [key] }, notifies)
    }
    const online = (worlds: Parameters<typeof onlineBody>[0], at: string) =>
      world.sync(onlinePlayers, onlineBody(worlds), at, notifies)
    const article = (number: number) => ({ title: `Article ${number}`, forumThread: `https://example.org/${number}` })
    // As the API answers guests: it hides the weekly counters of every member.
    const usual = { restrictions: { guild_high_ranked_access: true } }
    const hidden = { online: false, restrictions: { guild_high_ranked_access: true, online_status: true } }
    await members({ 1: usual, 2: usual, 3: { ...usual, rank: 'chief' }, 4: hidden, 8: usual }, '10:00')
    await online({ A1: [1], A2: [2] }, '10:00')
    await world.sync(items, [item('Oak Bow', { lore: 'old' })], '10:00', notifies)
    await world.sync(latestNews, [article(1)], '10:00', notifies)
    const { watching, warnings } = await watched([
      { name: 'guild', events: ['joined', 'left', 'rank'], guild: ['aaa'], groupSeconds: 0, target },
      { name: 'items', events: ['item changed', 'patch'], item: ['Oak Bow'], groupSeconds: 0, target },
      { name: 'worlds', events: ['world down'], groupSeconds: 0, target },
      { name: 'friends', events: ['online'], player: ['Player3', ...[5, 6, 7].map(playerId)], groupSeconds: 0, target },
      { name: 'news', events: ['news'], groupSeconds: 0, target },
    ])
    await world.db.query(
      `insert into sync.privacy_restriction values ($1, 'onlineStatus', 'players/x', now()),
                                                   ($2, 'guildHistoryAccess', 'players/y', now())`,
      [playerId(5), playerId(8)],
    )
    await world.db.query(
      `insert into sync.privacy_action (at, player_hash, field_group, policy, rows, reason)
       values (now(), sha256($1::bytea), 'everything', 'purge', 1, 'asked')`,
      [playerId(6)],
    )
    const later = {
      1: usual,
      3: { ...usual, rank: 'owner' },
      5: { ...usual, joined: '10:30' },
      6: { ...usual, joined: '10:30' },
      7: { ...hidden, joined: '10:30' },
    }
    for (const at of ['11:10', '12:00']) {
      await members(later, at)
      await online({ A1: [1, 3, 5, 6, 7] }, at)
    }
    await world.sync(items, [item('Oak Bow', { lore: 'new' }), item('Elm Bow')], '12:00', notifies)
    await world.sync(latestNews, [article(1), article(2)], '12:00', notifies)
    await world.clock.advanceTo(instantOf('12:10'))
    for (let times = 0; times < 3; times++) await watching.look()
    expect(warnings).toEqual([])
    const byWatch = new Map<string, string[]>()
    for (const body of receiver.got)
      byWatch.set(String(body.watch), [...(byWatch.get(String(body.watch)) ?? []), ...textsOf(body)])
    expect(Object.fromEntries(byWatch)).toEqual({
      guild: expect.arrayContaining([
        'joined: Player5 joined Guild a',
        'joined: Player7 joined Guild a',
        'left: Player2 left Guild a (some time after 1 Jun, 10:00)',
        'left: Player4 left Guild a (some time after 1 Jun, 10:00)',
        'rank: Player3 promoted from chief to owner in Guild a (some time after 1 Jun, 10:00)',
      ]),
      items: ['item changed: Oak Bow: 1 changed', 'patch: Patch 1: so far 1 item changed, 1 added, 0 removed'],
      worlds: ['world down: A2 is down (some time after 1 Jun, 10:00)'],
      friends: ['online: Player3 is online on A1'],
      news: ['news: Article 2'],
    })
    expect(byWatch.get('guild')).toHaveLength(5)
    expect(JSON.stringify(receiver.got)).not.toMatch(/Player6|Player8|000000000006|000000000008/)
  })

  test('send to Discord, Slack and commands lines that mention nobody and run nothing', async () => {
    const [receiver, folder] = [await openReceiver(), await temporaryFolder()]
    const hostile = '<!channel> @everyone [x](https://evil.example) \u202e$(touch x) `y`'
    const place = (letter: string, at: string) => ({
      guild: { uuid: guildId(letter), name: letter === 'b' ? hostile : 'Guild', prefix: 'x' },
      acquired: new Date(instantOf(at)).toISOString(),
      location: { start: [0, 0], end: [1, 1] },
    })
    await world.sync(territories, { Oak: place('a', '09:00') }, '10:00', notifies)
    const { watching } = await watched(
      [
        { name: 'discord', events: ['captured'], groupSeconds: 0, target: { type: 'discord', url: receiver.url } },
        { name: 'slack', events: ['captured'], groupSeconds: 0, target: { type: 'slack', url: receiver.url } },
        {
          name: 'command',
          events: ['captured'],
          groupSeconds: 0,
          target: { type: 'command', command: `cat > ${folder}/got` },
        },
      ],
      { site: 'http://localhost:8080' },
    )
    await world.sync(territories, { Oak: place('b', '10:30') }, '11:00', notifies)
    await watching.look()
    const [discord, slack] = [receiver.got.find((one) => 'embeds' in one), receiver.got.find((one) => 'text' in one)]
    expect(discord).toMatchObject({
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: `\\<!channel\\> \\@everyone \\[x\\]\\(https\\://evil.example\\) \\\\u202e$\\(touch x\\) \\\`y\\\` took Oak from Guild`,
          description: `\\<!channel\\> \\@everyone \\[x\\]\\(https\\://evil.example\\) \\\\u202e$\\(touch x\\) \\\`y\\\` holds 1 now, Guild 0\n[on the map](http://localhost:8080/map#t=2026-06-01T10:30Z) <t:1780309800:R>`,
          color: Number.parseInt(guildColour(hostile).slice(1), 16),
          thumbnail: { url: 'http://localhost:8080/og/territories/Oak.png' },
          footer: { text: 'discord' },
          url: 'http://localhost:8080/territories/Oak',
        },
      ],
    })
    expect(slack?.text).toBe(
      'slack: captured\n<http://localhost:8080/territories/Oak|&lt;!channel&gt; @everyone [x](https://evil.example) \\u202e$(touch x) `y` took Oak from Guild>',
    )
    const got = JSON.parse(readFileSync(join(folder, 'got'), 'utf8'))
    expect(got.events[0]).not.toHaveProperty('detail')
    expect(got.events[0].text).toBe(`${hostile} took Oak from Guild`)
  })

  test('give every resource its interval after the process began before it counts as late, and send that once', async () => {
    const receiver = await openReceiver()
    const target = { type: 'webhook', url: receiver.url }
    await world.db.query(
      `insert into sync.expectation values ('territories', '2026-01-01', 60, 'start'), ('items', '2026-01-01', 3600, 'start')`,
    )
    const late = [{ name: 'late', events: ['freshness late'], groupSeconds: 0, target }]
    const { watching } = await watched(late)
    const began = world.clock.now()
    const lookAfter = async (seconds: number, one = watching) => {
      await world.clock.advanceTo(began + seconds * 1000)
      for (let times = 0; times < 3; times++) await one.look()
      return receiver.got.map(textsOf)
    }
    expect(await lookAfter(1)).toEqual([])
    expect(await lookAfter(61)).toEqual([])
    expect(await lookAfter(121)).toEqual([['freshness late: territories is late']])
    expect((await lookAfter(3721)).slice(1)).toEqual([['freshness late: items is late']])
    // The outbox forgets after a day.
    await world.db.query('delete from sync.outbox')
    expect(await lookAfter(90_000)).toHaveLength(2)
    await watching.close(1000)
    const again = await watched(late)
    expect(await lookAfter(90_001, again.watching)).toHaveLength(2)
  })

  test('say what is late also by a clock that was set back by a day', async () => {
    const receiver = await openReceiver()
    const target = { type: 'webhook', url: receiver.url }
    const { watching } = await watched([{ name: 'late', events: ['freshness late'], groupSeconds: 0, target }])
    await watching.look()
    await world.db.query(`insert into sync.expectation values ('territories', '2026-01-01', 60, 'start')`)
    setBack(86_400_000)
    for (const at of ['00:01', '00:03', '00:03:01']) {
      await world.clock.advanceTo(instantOf(at))
      await watching.look()
    }
    expect(receiver.got.map(textsOf)).toEqual([['freshness late: territories is late']])
  })

  test('leave it to one process at a time, and send what is late as soon as it is known', async () => {
    const receiver = await openReceiver()
    const target = { type: 'webhook', url: receiver.url }
    const { watching } = await watched([{ name: 'late', events: ['freshness late'], groupSeconds: 0, target }])
    await oak('a', '09:00', '10:00')
    await world.db.query(`insert into sync.expectation values ('territories', '2026-01-01', 60, 'start')`)
    await world.clock.advanceTo(instantOf('12:00'))
    for (let times = 0; times < 3; times++) await watching.look()
    expect(receiver.got.map(textsOf)).toEqual([['freshness late: territories is late']])
    await world.clock.advanceTo(instantOf('12:10'))
    await watching.look()
    expect(receiver.got).toHaveLength(1)
    const other = await open()
    await world.db.query(`insert into sync.expectation values ('items', '2026-01-01', 60, 'start')`)
    await world.clock.advanceTo(instantOf('12:20'))
    for (let times = 0; times < 3; times++) await other.watching.look()
    expect(receiver.got).toHaveLength(1)
    await watching.close(1000)
    for (let times = 0; times < 3; times++) await other.watching.look()
    expect(receiver.got.slice(1).map(textsOf)).toEqual([['freshness late: items is late']])
  })
})

test('wait for a group, for enough of them, and for the end of quiet hours', () => {
  const at = (text: string) => instantOf(text)
  const change = (number: number, time: string) => ({ number, writtenAt: new Date(at(time)) })
  const group = { groupSeconds: 60 }
  expect(dueOf(group, [], 9, at('10:00'))).toEqual({ skip: 9 })
  expect(dueOf(group, [change(4, '10:00')], 9, at('10:00:30'))).toEqual({ skip: 3, at: at('10:01') })
  expect(dueOf(group, [change(4, '10:00'), change(8, '10:00:50')], 9, at('10:01'))).toEqual({ skip: 3, send: 9 })
  const enough = { groupSeconds: 0, atLeast: { events: 3, minutes: 10 } }
  const two = [change(4, '10:00'), change(5, '10:09')]
  expect(dueOf(enough, two, 9, at('10:09'))).toEqual({ skip: 3, at: at('10:10') })
  expect(dueOf(enough, two, 9, at('10:10'))).toEqual({ skip: 4, at: at('10:19') })
  expect(dueOf(enough, [...two, change(6, '10:10')], 9, at('10:10'))).toEqual({ skip: 3, send: 9 })
  expect(dueOf(enough, [...two, change(6, '10:11')], 9, at('10:11'))).toEqual({ skip: 4, at: at('10:19') })
  const night = { groupSeconds: 0, quiet: '22:00-07:00' }
  expect(dueOf(night, two, 9, at('23:00'))).toMatchObject({ skip: 3, at: at('23:01') })
  expect(dueOf(night, two, 9, at('02 07:00'))).toEqual({ skip: 3, send: 9 })
  const berlin = parseQuietHours('22:00-07:00 Europe/Berlin')
  expect(berlin && [isQuiet(berlin, at('19:59')), isQuiet(berlin, at('20:00')), isQuiet(berlin, at('05:00'))]).toEqual([
    false,
    true,
    false,
  ])
  expect([parseQuietHours('25:00-07:00'), parseQuietHours('22:00-07:00 Nowhere/Land')]).toEqual([null, null])
})
