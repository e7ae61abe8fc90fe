import type { Hono } from 'hono'
import type { Clock } from '../../base/clock.ts'
import { UsageError } from '../../base/errors.ts'
import { catalogue, faultNames } from './catalogue.ts'
import type { Faults } from './faults.ts'
import type { FaultSpec } from './rules.ts'

/**
 * Routes for the tester: `GET /__sandbox/faults` -> `{seed, rules, done, known}`, what is planned and what was done to how
 * many responses; `PUT` with a plan as JSON (`"storm:0.1"` or `{"storm": {"share": 0.1, "path": "/guild"}}`, and `?seed=`)
 * begins anew; `DELETE` ends them.
 */
export function addFaultControl(app: Hono, faults: Faults, clock: Clock): void {
  const iso = (instant: number | undefined) => (instant === undefined ? undefined : new Date(instant).toISOString())
  const show = () => ({
    seed: faults.seed(),
    rules: faults.rules().map((rule) => ({ ...rule, from: iso(rule.from), until: iso(rule.until) })),
    done: faults.done(),
    known: Object.fromEntries(faultNames.map((name) => [name, catalogue[name].about])),
  })
  app.get('/__sandbox/faults', (c) => c.json(show()))
  app.put('/__sandbox/faults', async (c) => {
    const spec: FaultSpec | undefined = await c.req.json().catch(() => undefined)
    const seed = c.req.query('seed')
    if (spec === undefined || (seed !== undefined && !/^\d{1,10}$/.test(seed)))
      return c.json({ error: 'Send JSON such as {"storm": 0.1}, and ?seed= with a whole number.' }, 400)
    try {
      faults.set(spec, clock.now(), seed === undefined ? undefined : Number(seed))
    } catch (error) {
      if (error instanceof UsageError) return c.json({ error: error.message }, 400)
      throw error
    }
    return c.json(show())
  })
  app.delete('/__sandbox/faults', (c) => {
    faults.set(null, clock.now())
    return c.json(show())
  })
}
