import type { Hono } from 'hono'
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
export function addControl(app: Hono, clock: MovableClock, journal: Journal, { openGame, nextInstant }: Shown): void {
  const show = () => ({ now: new Date(clock.now()).toISOString() })
  app.get('/__sandbox/clock', (c) => c.json(show()))
  app.put('/__sandbox/clock', async (c) => {
    const body: unknown = await c.req.json().catch(() => undefined)
    const path = nextPathOf(body)
    const next = path === undefined ? undefined : nextInstant?.(path, clock.now())
    if (path !== undefined && next === undefined)
      return c.json({ error: `No later answer of ${path}.`, ...show() }, 404)
    const instant = next ?? targetOf(body, clock.now())
    if (instant === undefined) return c.json({ error: 'Send {"now": ISO instant} or {"advanceSeconds": number}.' }, 400)
    if (instant < clock.now()) return c.json({ error: 'The clock does not go back.', ...show() }, 409)
    await clock.moveTo(instant)
    return c.json(show())
  })
  app.get('/__sandbox/requests', (c) => c.json(journal.counts()))
  if (!openGame) return
  app.get('/__sandbox/history', (c) => {
    const game = openGame()
    const now = game.advanceTo(clock.now())
    const { from = earliest, to = new Date(now + 1).toISOString() } = c.req.query()
    const bounds = [Date.parse(from), Date.parse(to)] as const
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
interface Shown {
  readonly openGame?: (() => Game) | undefined
  /** When a path's answer changes next after an instant; undefined when never. */
  readonly nextInstant?: ((path: string, after: number) => number | undefined) | undefined
}

/** Before everything, for a history that is asked for as a whole. */
const earliest = new Date(0).toISOString()

function nextPathOf(body: unknown): string | undefined {
  const next = typeof body === 'object' && body !== null && 'next' in body ? body.next : undefined
  return typeof next === 'string' ? next : undefined
}

function targetOf(body: unknown, now: number): number | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  if ('advanceSeconds' in body && typeof body.advanceSeconds === 'number') return now + body.advanceSeconds * 1000
  const instant = 'now' in body && typeof body.now === 'string' ? Date.parse(body.now) : Number.NaN
  return Number.isNaN(instant) ? undefined : instant
}
