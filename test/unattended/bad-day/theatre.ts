import { setMaxListeners } from 'node:events'
import { seededRandom, type VirtualClock, virtualClock } from '../../../src/app/clock.ts'
import type { Database } from '../../../src/db/database.ts'
import { openServer } from '../../../src/db/server/server.ts'
import { createItemWorld, type Sandbox, startSandbox } from '../../../src/sandbox/index.ts'
import { migrateAll } from '../../support/postgres.ts'
import { type OwnPostgres, restarts } from '../../support/postgres-binaries.ts'
import { type CuttableWay, cuttableWay } from '../../support/proxy.ts'
import { type Door, openDoor } from './door.ts'
import type { Delivered } from './journal.ts'
import { beginLife, type Life } from './life.ts'
import type { Misfortune } from './misfortunes.ts'

/** When the play begins. */
export const dawn = Date.parse('2026-06-01T10:00:05Z')

/** The stage of a bad day: the API behind its door, the database behind cuttable ways, and who lives. */
export interface Theatre {
  readonly clock: VirtualClock
  readonly sandbox: Sandbox
  readonly door: Door
  /** The way of the spectators. */
  readonly db: Database
  /** What the logs of the living said. */
  readonly said: string[]
  /** When the play is over; who then lives ends in order. */
  readonly curtain: AbortController
  /** Begins a life under a name of its own. Throws RetryableError while the database is away. */
  begin(role: string, seed: number): Promise<Life>
  /** SIGKILL: cuts it off from everything at once, and waits for nothing. */
  kill(life: Life): void
  /** It has come to its end by itself. */
  end(life: Life): Promise<void>
  strike(misfortune: Misfortune): Promise<void>
  mend(misfortune: Misfortune): Promise<void>
  close(): Promise<void>
}

const whole = createItemWorld(1)
/** Few items, so that a sync of all is done in a moment. */
const items = {
  items: whole.items.slice(0, 50),
  recipes: whole.recipes.slice(0, 25),
  sets: Object.fromEntries(Object.entries(whole.sets).slice(0, 6)),
}

/** What is played. */
export interface Bill {
  /** Requests a minute and bucket. */
  readonly limit: number
  readonly seed: number
  /** Told of every answer that was delivered whole. */
  readonly tell: (heard: Delivered) => void
}

export async function openTheatre(postgres: OwnPostgres, { limit, seed, tell }: Bill): Promise<Theatre> {
  const living = new Set<Life>()
  const remains: Promise<void>[] = []
  let asleep = 0
  let weather: 'fair' | 'cut' | 'frozen' = 'fair'
  let opening = 0
  let restarting = false
  let births = 0
  const random = seededRandom(seed)
  const busy = () => {
    const lives = [...living]
    const requests = lives.reduce((sum, life) => sum + life.requests(), 0)
    if (requests > asleep + (door?.waiting() ?? 0)) return true
    if (restarting) return true
    return weather !== 'frozen' && (opening > 0 || lives.some((life) => life.isAsking()))
  }
  const clock = virtualClock(dawn, { auto: true, idleMs: 1, busy })
  const sandbox = await startSandbox({
    clock: {
      ...clock,
      sleep: async (ms, signal) => {
        asleep += 1
        await clock.sleep(ms, signal).finally(() => {
          asleep -= 1
        })
      },
    },
    items,
    seed,
    limits: { guest: limit, token: limit },
    game: { guilds: 120, players: 300 },
  })
  let door: Door | undefined
  const opened = await openDoor(sandbox.url, { clock, seed, tell })
  door = opened
  const db = await openServer(postgres.url)
  await migrateAll(db)
  const said: string[] = []
  const surroundings = { clock, apiUrl: opened.url, hear: (line: string) => void said.push(line) }
  const ways = new Set<CuttableWay>()
  const kill = (life: Life) => {
    living.delete(life)
    opened.bury(life.name)
    ways.delete(life.way)
    life.way.cut()
    life.death.abort(new Error('killed'))
    // What is left of it in this program is swept up; it has no hand in anything any more.
    remains.push(life.close())
  }
  const troubles: Record<Misfortune['trouble'], { strike(): unknown; mend(): unknown }> = {
    away: { strike: () => change('cut'), mend: () => change('fair') },
    frozen: { strike: () => change('frozen'), mend: () => change('fair') },
    snapped: { strike: () => [...ways].map((way) => way.snap()), mend: () => undefined },
    restarted: { strike: restart, mend: () => undefined },
    refuses: { strike: () => opened.be('refuses'), mend: () => opened.be('open') },
    errors: { strike: () => opened.be('errors'), mend: () => opened.be('open') },
    hangs: { strike: () => opened.be('hangs'), mend: () => opened.be('open') },
  }

  async function change(next: typeof weather): Promise<void> {
    // A database that hung has lost some of its clients meanwhile.
    if (weather === 'frozen') for (const way of ways) if (random() < 0.5) way.snap()
    weather = next
    await Promise.all([...ways].map(expose))
  }

  async function expose(way: CuttableWay): Promise<void> {
    if (weather === 'cut') way.cut()
    else if (weather === 'frozen') way.freeze()
    else await way.mend()
  }

  /** Time stands still meanwhile: for how long a database is away, other misfortunes see to. */
  async function restart(): Promise<void> {
    restarting = true
    await postgres.restart(restarts[Math.floor(random() * restarts.length)] ?? 'fast')
    restarting = false
  }

  const curtain = new AbortController()
  setMaxListeners(0, curtain.signal)
  return {
    clock,
    sandbox,
    door: opened,
    db,
    said,
    curtain,
    async begin(role, lifeSeed) {
      births += 1
      const name = `${role} ${births}`
      const way = await cuttableWay(postgres.url)
      ways.add(way)
      opening += 1
      try {
        await expose(way)
        const life = await beginLife(name, lifeSeed, way, surroundings)
        living.add(life)
        return life
      } catch (error) {
        ways.delete(way)
        way.cut()
        throw error
      } finally {
        opening -= 1
      }
    },
    kill,
    async end(life) {
      await life.close()
      living.delete(life)
      ways.delete(life.way)
    },
    strike: async ({ trouble }) => void (await troubles[trouble].strike()),
    mend: async ({ trouble }) => void (await troubles[trouble].mend()),
    async close() {
      for (const life of [...living]) kill(life)
      await Promise.all(remains)
      await db.close()
      await opened.close()
      await sandbox.close()
    },
  }
}
