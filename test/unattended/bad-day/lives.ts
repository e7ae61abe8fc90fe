import { type Clock, type Random, seededRandom } from '../../../src/app/clock.ts'
import { RetryableError } from '../../../src/app/errors.ts'
import type { Life } from './life.ts'
import { waitOf } from './misfortunes.ts'
import type { Theatre } from './theatre.ts'

/** How likely an actor dies, until somebody calls it off. */
export interface Mortality {
  readonly isOver: () => boolean
}

/** How long a life lasts that is killed, on average; ms. A supervisor starts the next one after up to ten seconds. */
const LIFESPAN = 75_000
const REBIRTH = 10_000

/** Lives one after the other: one that is killed or comes to its end is followed by the next. */
export async function supervise(
  theatre: Theatre,
  role: string,
  seed: number,
  mortality: Mortality,
  play: (life: Life, random: Random) => Promise<unknown>,
): Promise<void> {
  const { clock, curtain } = theatre
  const random = seededRandom(seed)
  while (!curtain.signal.aborted) {
    const diesAfter = waitOf(LIFESPAN, random)
    await live(theatre, role, Math.floor(random() * 1e9), { diesAfter, mortality }, play)
    await rest(clock, 1000 + REBIRTH * random(), curtain.signal)
  }
}

/** One life from its start to its end, or to where it is killed; ms, null: it is not. */
export async function live(
  theatre: Theatre,
  role: string,
  seed: number,
  { diesAfter, mortality }: { readonly diesAfter: number | null; readonly mortality: Mortality },
  play: (life: Life, random: Random) => Promise<unknown>,
): Promise<void> {
  const { clock, curtain } = theatre
  const life = await theatre.begin(role, seed).catch((error: unknown) => {
    // As in earnest: it says that the database is away, and that is its end.
    if (error instanceof RetryableError) return undefined
    throw error
  })
  if (!life) return
  const ended = new AbortController()
  const killed = diesAfter === null ? never : rest(clock, diesAfter, AbortSignal.any([ended.signal, curtain.signal]))
  const played = play(life, seededRandom(seed)).then(
    () => 'played' as const,
    (error: unknown) => {
      if (!life.death.signal.aborted && !(error instanceof RetryableError)) theatre.said.push(`${life.name}: ${error}`)
      return 'played' as const
    },
  )
  const fate = await Promise.race([
    played,
    killed.then(() => (curtain.signal.aborted || mortality.isOver() ? played : 'killed')),
  ])
  ended.abort()
  if (fate === 'killed') theatre.kill(life)
  else await theatre.end(life)
}

const never = new Promise<void>(() => undefined)

/** Waits, unless it is called off before. */
export async function rest(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal).catch(() => undefined)
}
