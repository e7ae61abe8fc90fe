import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Random, seededRandom, systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { openServer } from '../../src/db/server/server.ts'
import { resources } from '../../src/resources/index.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { buildProgram, startProgram } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { effort } from '../support/effort.ts'
import { followStream } from '../support/event-stream.ts'
import { freePort } from '../support/free-port.ts'
import { guildId } from '../support/guild-answers.ts'
import { kindsOfLongTests, temporaryFolder, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { openReceiver } from '../support/receiver.ts'
import { servedApi } from '../support/served.ts'
import { headersOf } from '../support/world.ts'

/** A message, as far as it is compared. */
interface Message {
  readonly id: string
  readonly events: readonly { readonly change: number; readonly territory: string; readonly at: string }[]
}

const onlyTerritories = resources.map(({ name }) => `${name}=${name === 'territories' ? '* * * * *' : 'off'}`).join(';')

beforeAll(buildProgram)

describe.each(kindsOfLongTests)('a start that is killed at any instant, on the %s database,', (kind) => {
  test('delivers each change to watches and streams, in order, and again only with the same key', {
    timeout: 60_000 + effort.watchKills * 20_000,
  }, async () => {
    const random = seededRandom(18)
    const api = await servedApi({ clock: systemClock })
    const game = playGame(api, random)
    const dataDir = await testDataDir()
    const url = kind === 'server' ? await testDatabaseUrl() : undefined
    const [flaky, steady] = [await openReceiver(() => (random() < 0.05 ? 500 : 204)), await openReceiver()]
    const lines = join(await temporaryFolder(), 'lines')
    // The command takes its time, so that kills find it between what it has done and what is known of it.
    const watch = { events: ['captured'], groupSeconds: 0 }
    const watches = [
      { ...watch, name: 'all', target: { type: 'webhook', url: flaky.url } },
      { ...watch, name: 'a', guild: [guildId('a')], groupSeconds: 1, target: { type: 'webhook', url: steady.url } },
      { ...watch, name: 'command', target: { type: 'command', command: `(cat && echo) >> ${lines}; sleep 0.3` } },
    ]
    // As an earlier version left it: a kill may find it half taken into the database.
    writeFileSync(join(dataDir, 'watches.json'), JSON.stringify({ watches }))
    const port = await freePort()
    const stream = `http://127.0.0.1:${port}/changes/stream`
    const [everything, ofGuild] = [followStream(stream), followStream(`${stream}?guild=${guildId('a')}`)]
    const environment = { WYNNSYNC_DATA_DIR: dataDir, WYNNSYNC_SCHEDULE: onlyTerritories }
    const start = () => {
      const flags = ['--web-port', String(port), '--rate-limit', '0', '--base-url', api.url]
      const running = startProgram(['start', ...flags], { ...environment, ...(url ? { DATABASE_URL: url } : {}) })
      onTestFinished(() => void running.child.kill('SIGKILL'))
      return running
    }
    let died = 0
    while (died < effort.watchKills) {
      const { child, finished } = start()
      const asked = game.asked()
      const ended = finished.then(() => true)
      while (game.asked() === asked && !(await Promise.race([ended, delay(20, false)])));
      await delay(random() * 3000)
      child.kill('SIGKILL')
      // One that found the lock of the last one still held has ended by itself.
      if ((await finished).code === null) died++
    }
    game.end()
    const messages = () => [flaky.got, steady.got, readLines(lines)] as unknown as Message[][]
    const truth = await untilDelivered(
      start,
      url ? () => openServer(url) : () => openEmbedded(dataDir, { clock: systemClock }),
    )
    const [all, mine, ofCommand] = messages().map(checked)
    const keys = truth.captures.map(({ territory, at }) => `${territory} ${at.toISOString()}`)
    expect(keys.length).toBeGreaterThan(effort.watchKills)
    expect(all?.keys.toSorted()).toEqual(keys.toSorted())
    expect(ofCommand?.keys.toSorted()).toEqual(keys.toSorted())
    const byA = truth.captures.filter(({ guild }) => guild === guildId('a'))
    expect(mine?.keys.toSorted()).toEqual(byA.map(({ territory, at }) => `${territory} ${at.toISOString()}`).toSorted())
    expect(everything.ids).toEqual(truth.numbers)
    expect(ofGuild.ids).toEqual(truth.numbersOfA)
  })
})

test('a start with the embedded database takes up a watch that is added while it runs, and no longer sends one that is removed', {
  timeout: 120_000,
}, async () => {
  const api = await servedApi({ clock: systemClock })
  const game = playGame(api, seededRandom(18))
  const [receiver, dataDir] = [await openReceiver(), await testDataDir()]
  const environment = { WYNNSYNC_DATA_DIR: dataDir, WYNNSYNC_SCHEDULE: onlyTerritories }
  const { child, finished } = startProgram(['start', '--base-url', api.url], environment)
  onTestFinished(() => void child.kill('SIGKILL'))
  const until = async (isTrue: () => boolean) => {
    while (!isTrue() && child.exitCode === null) await delay(50)
  }
  const run = async (...args: string[]) => await runInside(['watch', ...args], environment)
  const target = ['--event', 'captured', '--collect', '1s', '--webhook', receiver.url]
  await until(() => game.asked() > 0)
  expect(await run('add', 'all', ...target)).toMatchObject({ code: 0 })
  await until(() => receiver.got.length > 0)
  expect(await run('remove', 'all', '--yes')).toMatchObject({ code: 0, err: '' })
  await delay(2000)
  const { length } = receiver.got
  expect(await run('add', 'other', ...target)).toMatchObject({ code: 0 })
  await until(() => receiver.got.length > length)
  expect([...new Set(receiver.got.slice(length).map(({ watch }) => watch))]).toEqual(['other'])
  child.kill('SIGTERM')
  expect(await finished).toMatchObject({ code: 0, err: expect.not.stringContaining('watch') })
})

/** Territories that change hands in every response, at most once a second, until the end. */
function playGame(api: Sandbox, random: Random) {
  const names = ['Oak', 'Elm', 'Yew', 'Ash', 'Fir']
  const held = new Map(names.map((name) => [name, { letter: 'a', acquired: Date.now() - 60_000 }]))
  let [asked, second, isOver] = [0, 0, false]
  api.setAnswer('/guild/list/territory', () => {
    asked++
    const now = Math.floor(Date.now() / 1000)
    if (now > second && !isOver) {
      for (const [name, { letter }] of held) {
        if (random() < 0.5) held.set(name, { letter: letter === 'a' ? 'b' : 'a', acquired: (now - 1) * 1000 })
      }
    }
    second = now
    const body = Object.fromEntries(
      [...held].map(([name, { letter, acquired }]) => [
        name,
        {
          guild: { uuid: guildId(letter), name: `Guild ${letter}`, prefix: letter.repeat(3) },
          acquired: new Date(acquired).toISOString(),
          location: { start: [0, 0], end: [1, 1] },
        },
      ]),
    )
    return { headers: headersOf(second * 1000, 1), body }
  })
  return {
    asked: () => asked,
    end: () => {
      isOver = true
    },
  }
}

/** What one target got: each capture once. Fails when a repeated one has another key, or one of a territory comes too late. */
function checked(messages: readonly Message[]) {
  const ids = new Map<string, string>()
  const last = new Map<string, number>()
  for (const { id, events } of messages) {
    for (const { territory, at, change } of events) {
      const key = `${territory} ${at}`
      const before = ids.get(key)
      if (before === undefined) {
        expect(change).toBeGreaterThan(last.get(territory) ?? 0)
        last.set(territory, change)
      } else expect(id).toBe(before)
      ids.set(key, id)
    }
  }
  return { keys: [...ids.keys()] }
}

/** Lets a last one run until everything is delivered; what the database has then. */
async function untilDelivered(start: () => ReturnType<typeof startProgram>, open: () => Promise<Database>) {
  let running = start()
  for (const until = Date.now() + 60_000; Date.now() < until; ) {
    // Longer than a group, a first retry and a look of a stream.
    const isOver = await Promise.race([running.finished.then(() => true), delay(12_000, false)])
    if (!isOver) break
    running = start()
  }
  running.child.kill('SIGTERM')
  await running.finished
  const db = await open()
  const state = await db.values('select number, sending from sync.watch_delivery where sending is not null')
  expect(state).toEqual([])
  const captures = await db.query<{ territory: string; at: Date; guild: string }>(
    'select territory, captured_at as at, to_guild_uuid::text as guild from analytics.territory_capture',
  )
  const numbersWhere = async (condition: string) =>
    (await db.values(`select number from sync.outbox where ${condition} order by number`)).map(([number]) =>
      Number(number),
    )
  const [numbers, numbersOfA] = [
    await numbersWhere(`not change @> '{"late": true}'`),
    await numbersWhere(`change->'concerns' ? '${guildId('a')}'`),
  ]
  await db.close()
  return { captures, numbers, numbersOfA }
}

function readLines(file: string): unknown[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}
