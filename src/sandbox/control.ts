import type { Hono } from 'hono'
import type { MovableClock } from './clock.ts'
import type { Journal } from './journal.ts'

/**
 * Routes for the tester, outside the API and free of its budget:
 * `GET /__sandbox/clock` -> `{now}`; `PUT /__sandbox/clock` with `{now: ISO}` or `{advanceSeconds: n}` -> `{now}`,
 * 409 when that would go back; `GET /__sandbox/requests` -> `{total, byPath: {path: {status: n}}}`.
 */
export function addControl(app: Hono, clock: MovableClock, journal: Journal): void {
  const show = () => ({ now: new Date(clock.now()).toISOString() })
  app.get('/__sandbox/clock', (c) => c.json(show()))
  app.put('/__sandbox/clock', async (c) => {
    const instant = targetOf(await c.req.json().catch(() => undefined), clock.now())
    if (instant === undefined) return c.json({ error: 'Send {"now": ISO instant} or {"advanceSeconds": number}.' }, 400)
    if (instant < clock.now()) return c.json({ error: 'The clock does not go back.', ...show() }, 409)
    await clock.moveTo(instant)
    return c.json(show())
  })
  app.get('/__sandbox/requests', (c) => c.json(journal.counts()))
}

function targetOf(body: unknown, now: number): number | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  if ('advanceSeconds' in body && typeof body.advanceSeconds === 'number') return now + body.advanceSeconds * 1000
  const instant = 'now' in body && typeof body.now === 'string' ? Date.parse(body.now) : Number.NaN
  return Number.isNaN(instant) ? undefined : instant
}
