import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { seededRandom, systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { openServer } from '../../src/db/server/server.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { gameDigests } from '../support/backfill.ts'
import { buildProgram, type Environment, runProgram, startProgram } from '../support/cli.ts'
import { effort } from '../support/effort.ts'
import { type bothKinds, kindsOfLongTests, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

const guilds = effort.backfillGuilds
const kills = guilds >= 1000 ? 20 : 4
/** What the program asks for at once, by default. */
const inFlight = 4

interface Place {
  readonly environment: Environment
  open(): Promise<Database>
}

async function placeOf(kind: (typeof bothKinds)[number]): Promise<Place> {
  if (kind === 'server') {
    const url = await testDatabaseUrl()
    return { environment: { DATABASE_URL: url }, open: () => openServer(url) }
  }
  const dataDir = await testDataDir()
  return { environment: { WYNNSYNC_DATA_DIR: dataDir }, open: () => openEmbedded(dataDir, { clock: systemClock }) }
}

/** How far a process gets before it is interrupted. */
interface Moment {
  readonly guilds: number
  readonly ms: number
}

const argsOf = ({ url }: Sandbox) => ['backfill', 'guilds', '--json', '--base-url', url]

/** The guilds that were asked for, in order. */
const asked = ({ requests }: Sandbox) =>
  requests.flatMap(({ path }) => (path.startsWith('/guild/uuid/') ? [path.slice('/guild/uuid/'.length)] : []))

/** Starts a backfill and interrupts it after so many guilds and a moment. Says whether that is what ended it. */
async function interrupted(api: Sandbox, { environment }: Place, signal: 'SIGKILL' | 'SIGINT', after: Moment) {
  for (;;) {
    const before = api.requests.length
    const { child, finished } = startProgram(argsOf(api), environment)
    let ended = false
    void finished.then(() => {
      ended = true
    })
    while (!ended && api.requests.length < before + after.guilds) await delay(2)
    if (ended) {
      // A server may need a moment to notice that the last process is dead.
      const { out, err } = await finished
      expect(JSON.parse(out).run.status, err).toBe('skipped')
      continue
    }
    await delay(after.ms)
    child.kill(signal)
    const { code } = await finished
    return code === (signal === 'SIGKILL' ? null : 75)
  }
}

async function toTheEnd(api: Sandbox, { environment }: Place) {
  for (;;) {
    const { code, out, err } = await runProgram(argsOf(api), environment)
    const { run, left } = JSON.parse(out)
    if (run.status === 'skipped') continue
    expect([code, left], err).toEqual([0, 0])
    return run
  }
}

async function digestsOf({ open }: Place) {
  const db = await open()
  const digests = await gameDigests(db)
  const [open_] = await db.values(
    'select count(*) from sync.work_item where checked_at is null or leased_by is not null',
  )
  await db.close()
  return { digests, open: open_ }
}

beforeAll(buildProgram, 300_000)

describe.each(kindsOfLongTests)('a backfill that is killed at any instant, on the %s database,', (kind) => {
  test('ends with the tables of one that nobody disturbed, and asks again for nothing but what was in flight', {
    timeout: 60_000 + guilds * 400,
  }, async () => {
    const random = seededRandom(11)
    const game = { guilds, players: Math.min(2000, guilds * 3) }
    const [calm, api] = [await servedApi({ game }), await servedApi({ game })]
    const [quiet, disturbed] = [await placeOf(kind), await placeOf(kind)]
    const started = performance.now()
    const { durationMs } = await toTheEnd(calm, quiet)
    const died: boolean[] = []
    for (let nth = 0; nth < kills; nth++) {
      const signal = nth % 4 === 3 ? 'SIGINT' : 'SIGKILL'
      const moment = { guilds: 1 + Math.floor((random() * guilds) / (kills + 1)), ms: random() * 20 }
      died.push(await interrupted(api, disturbed, signal, moment))
    }
    await toTheEnd(api, disturbed)
    const [expected, found] = [await digestsOf(quiet), await digestsOf(disturbed)]
    expect(found).toEqual(expected)
    expect(found.open).toEqual([0])
    expect(died).toEqual(died.map(() => true))

    const all = asked(api)
    expect(new Set(all)).toEqual(new Set(asked(calm)))
    expect(new Set(all).size).toBe(guilds)
    expect(all.length - guilds).toBeLessThanOrEqual(kills * inFlight)
    const seconds = Math.round((performance.now() - started) / 1000)
    if (guilds >= 1000) {
      const said = `${guilds} guilds: undisturbed ${Math.round(durationMs / 1000)} s; ${kills} kills, ${all.length - guilds} asked again; all ${seconds} s`
      process.stderr.write(`${said}\n`)
    }
  })
})
