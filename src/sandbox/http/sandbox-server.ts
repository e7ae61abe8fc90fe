import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { type Clock, systemClock } from '../../base/clock.ts'
import { type MovableClock, movableClock, shiftedClock } from '../clock.ts'
import { withContent } from '../content/source.ts'
import { createFaults, type FaultSpec, type FaultsDone } from '../faults/index.ts'
import type { GameHistory, GameOptions } from '../game/game.ts'
import { openGame } from '../game-source.ts'
import type { ItemWorld } from '../generator/records.ts'
import { createItemWorld } from '../generator/world.ts'
import { defaultClients, type RegisteredClient } from '../oauth/clients.ts'
import { inventedPeople, openIdentityDesk, type People } from '../oauth/tokens.ts'
import { openRecordings } from '../recordings.ts'
import { worldSource } from '../world-source.ts'
import { type AnswerHook, type AnswerSource, type Dialect, once } from './answer.ts'
import type { AnswerForm } from './paging.ts'
import type { Limits, ResetForm } from './request-budget.ts'
import { createJournal, type LogEntry, type Shown, sandboxApp } from './routes-app.ts'

/** How the sandbox is to behave. */
export interface SandboxOptions {
  /**
   * Time of budgets, copies and headers (default the machine's). A virtual clock is moved by its owner or by the control
   * routes.
   */
  readonly clock?: Clock | undefined
  /** When the sandbox's time begins, ms since the epoch (default: what `clock` says). Not for virtual clocks. */
  readonly startAt?: number | undefined
  /** Port on 127.0.0.1; 0, the default, takes a free one. */
  readonly port?: number | undefined
  /** Which form of the API is spoken (default live). */
  readonly dialect?: Dialect | undefined
  /** Decides the generated world and the order of records (default 1). */
  readonly seed?: number | undefined
  /** The item world to serve instead of the one generated from the seed. */
  readonly items?: ItemWorld | undefined
  /** Folder of recorded responses to serve instead of a generated world. */
  readonly recordings?: string | undefined
  /** Records per page (default 20). */
  readonly pageSize?: number | undefined
  /** Requests per window and bucket (default guest 50, token 120: API reference 2.2). */
  readonly limits?: Limits | undefined
  /** Length of a rate-limit window in seconds (default 60). */
  readonly windowSeconds?: number | undefined
  /** How `RateLimit-Reset` is written (default live delta, documented epoch). */
  readonly resetForm?: ResetForm | undefined
  /** Number of the first page (default live 1, documented 0). */
  readonly firstPage?: 0 | 1 | undefined
  /** API tokens that are known, each of some player; any other is refused with 401 unless the sandbox issued it. */
  readonly tokens?: readonly string[] | undefined
  /** Registered OAuth applications (default: public `sandbox`, and `sandbox-private` with secret `sandbox-secret`). */
  readonly clients?: readonly RegisteredClient[] | undefined
  /** How long each response takes, ms of the clock (default 0). */
  readonly latencyMs?: number | undefined
  /** The living world behind the guild and player routes; false for none (default on; never with recordings). */
  readonly game?: false | GameOptions | undefined
  /** What goes wrong with the responses, as in `--faults` (default nothing). */
  readonly faults?: FaultSpec | undefined
  /** Seconds of the sandbox per second of the clock, for people who watch (default 1; not with a virtual clock). */
  readonly speed?: number | undefined
}

/** A running sandbox. */
export interface Sandbox {
  /** Base URL for a client: `http://127.0.0.1:<port>/v3`. */
  readonly url: string
  readonly clock: MovableClock
  /** The newest requests below the base path, oldest first. */
  readonly requests: readonly LogEntry[]
  /** Replaces the responses of `path` (below the base path); null takes the hook away. Budgets still count. */
  setAnswer(path: string, hook: AnswerHook | null): void
  /** Exchanges the generated world; shows from each route's next produced copy on. Not with recordings. */
  setItemWorld(world: ItemWorld): void
  /**
   * What truly happened in [from, to) (ISO instants; default everything up to now), to the millisecond. A RangeError
   * when there is no game.
   */
  history(from?: string, to?: string): GameHistory
  /** A player's counter as flushed at an instant (ISO; default now); undefined when unknown or without a game. */
  counterAt(player: string, name: string, at?: string): number | undefined
  /** Begins anew with another plan of faults, and seed if given; null ends them. UsageError for one that cannot be read. */
  setFaults(spec: FaultSpec | null, seed?: number): void
  /** How many responses were spoilt since the plan was set, and how. */
  faultsDone(): FaultsDone
  /** Stops listening and drops open connections; a second call waits for the first. */
  close(): Promise<void>
}

/**
 * Starts a stand-in of the API on 127.0.0.1.
 * @throws FatalError when the recordings cannot be read, UsageError when the faults cannot; the system's error when the port is taken
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { dialect = 'live', seed = 1, pageSize = 20, clock: own = systemClock, startAt, speed = 1 } = options
  const isShifted = startAt !== undefined || speed !== 1
  const clock = movableClock(isShifted ? shiftedClock(own, startAt ?? own.now(), speed) : own)
  const journal = createJournal()
  const hooks = new Map<string, AnswerHook>()
  const faults = createFaults(seed)
  faults.set(options.faults ?? null, clock.now())
  const pageForm = { size: pageSize, firstPage: options.firstPage ?? (dialect === 'live' ? 1 : 0) } as const
  const form = { dialect, seed, now: clock.now(), ...pageForm }
  const { source, setItemWorld, game, nextInstant, people } = openSource(options, form)
  const app = sandboxApp({
    clock,
    source,
    journal,
    game,
    nextInstant,
    hooks,
    limits: options.limits ?? { guest: 50, token: 120 },
    windowSeconds: options.windowSeconds ?? 60,
    resetForm: options.resetForm ?? (dialect === 'live' ? 'delta' : 'epoch'),
    desk: openIdentityDesk(seed, options.tokens ?? [], {
      clock,
      clients: options.clients ?? defaultClients,
      people: people ?? once(inventedPeople),
    }),
    latencyMs: options.latencyMs ?? 0,
    faults,
  })
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false })
  // On everything that it ever says, so that no history of the real game takes it.
  server.prependListener('request', (_, response: ServerResponse) => response.setHeader('X-Wynnsync-Sandbox', 'true'))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', () => resolve())
  })
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}/v3`,
    clock,
    requests: journal.entries,
    setAnswer: (path, hook) => void (hook ? hooks.set(path, hook) : hooks.delete(path)),
    setItemWorld,
    history: (from, to) => {
      if (!game) throw new RangeError('the sandbox plays no game, so it has no history')
      const now = game().advanceTo(clock.now())
      return game().history(from === undefined ? 0 : Date.parse(from), to === undefined ? now + 1 : Date.parse(to))
    },
    counterAt: (player, name, at) => {
      const now = game?.().advanceTo(clock.now()) ?? 0
      return game?.().counterAt(player, name, at === undefined ? now : Date.parse(at))
    },
    setFaults: (spec, otherSeed) => faults.set(spec, clock.now(), otherSeed),
    faultsDone: faults.done,
    close: once(
      () =>
        new Promise<void>((resolve, reject) => {
          server.close((error) => (error ? reject(error) : resolve()))
          if ('closeAllConnections' in server) server.closeAllConnections()
        }),
    ),
  }
}

interface Source extends Shown {
  readonly source: AnswerSource
  readonly setItemWorld: Sandbox['setItemWorld']
  /** Who can own a credential; absent when anybody can. */
  readonly people?: (() => People) | undefined
}

/** Recorded answers when a folder of them is named, otherwise a generated world, and the game around it. */
function openSource(options: SandboxOptions, form: AnswerForm): Source {
  const { dialect, seed } = form
  if (options.recordings !== undefined) {
    const recordings = openRecordings(options.recordings, form)
    return {
      source: recordings,
      nextInstant: (path, after) => recordings.instants(path).find((instant) => instant > after),
      setItemWorld: () => {
        throw new RangeError('recorded answers cannot be exchanged for a generated world')
      },
    }
  }
  // Many who start a sandbox never ask for an item.
  const world = once(() => options.items ?? createItemWorld(seed))
  const items = withContent(worldSource(world, dialect, seed, form), form)
  if (options.game === false) return { source: items, setItemWorld: items.setItemWorld }
  return openGame(items, { patches: options.items === undefined, ...options.game }, form)
}
