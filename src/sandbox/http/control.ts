import type { Hono } from 'hono'
import * as z from 'zod'
import type { MovableClock } from '../clock.ts'
import type { Game } from '../game/game.ts'
import type { Journal } from './request-journal.ts'

/**
 * Routes for the tester, outside the API and free of its budget:
 * `GET /__sandbox/clock` -> `{now}`; `PUT /__sandbox/clock` with `{now: ISO}`, `{advanceSeconds: n}` or, of recordings,
 * `{next: path}` (to the path's next recorded response) -> `{now}`; 409 when that would go back, 404 when none comes; `GET /__sandbox/requests` -> `{total, byPath: {path: {status: n}}}`;
 * `GET /__sandbox/history?from&to` (ISO, both optional, [from, to)) -> the true history of the game;
 * `GET /__sandbox/counter?player&name&at` -> `{value}`, null when unknown.
 */
export function addControl(
  app: Hono,
  clock: MovableClock,
  journal: Journal,
  { game: openGame, nextInstant }: Shown,
): void {
  const show = () => ({ now: new Date(clock.now()).toISOString() })
  app.get('/__sandbox/clock', (c) => c.json(show()))
  app.put('/__sandbox/clock', async (c) => {
    const { next: path, now, advanceSeconds } = clockForm.parse(await c.req.json().catch(() => undefined))
    const next = path === undefined ? undefined : nextInstant?.(path, clock.now())
    if (path !== undefined && next === undefined)
      return c.json({ error: `No later answer of ${path}.`, ...show() }, 404)
    const asked = advanceSeconds === undefined ? Date.parse(now ?? '') : clock.now() + advanceSeconds * 1000
    const instant = next ?? asked
    if (Number.isNaN(instant)) return c.json({ error: 'Send {"now": ISO instant} or {"advanceSeconds": number}.' }, 400)
    if (instant < clock.now()) return c.json({ error: 'The clock does not go back.', ...show() }, 409)
    await clock.moveTo(instant)
    return c.json(show())
  })
  app.get('/__sandbox/requests', (c) => c.json(journal.counts()))
  if (!openGame) return
  app.get('/__sandbox/history', (c) => {
    const game = openGame()
    const now = game.advanceTo(clock.now())
    const { from, to } = c.req.query()
    const bounds = [from === undefined ? 0 : Date.parse(from), to === undefined ? now + 1 : Date.parse(to)] as const
    if (bounds.some(Number.isNaN)) return c.json({ error: 'from and to are ISO instants.' }, 400)
    return c.json(game.history(...bounds))
  })
  app.get('/__sandbox/counter', (c) => {
    const { player = '', name = '', at = '' } = c.req.query()
    const game = openGame()
    const now = game.advanceTo(clock.now())
    const value = game.counterAt(player, name, at === '' ? now : Date.parse(at))
    return c.json({ value: value ?? null })
  })
}

/** What the sandbox can show besides its clock and its journal. */
export interface Shown {
  /** The living world; undefined when there is none. */
  readonly game?: (() => Game) | undefined
  /** When a path's answer changes next after an instant; undefined when never. */
  readonly nextInstant?: ((path: string, after: number) => number | undefined) | undefined
}

/** What the clock is to be set to; a field of another type counts as absent. */
const clockForm = z
  .object({
    next: z.string().optional().catch(undefined),
    now: z.string().optional().catch(undefined),
    advanceSeconds: z.number().optional().catch(undefined),
  })
  .catch({})
