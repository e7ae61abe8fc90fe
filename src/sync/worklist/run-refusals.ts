import type { Engine } from '../engine.ts'
import type { Worklist } from '../resource.ts'
import type { IngestResult } from '../run/ingest-key.ts'
import type { RunSummary } from '../run/run-summary.ts'
import { refusalWindow, watchRefusals } from '../validate/mass-refusal.ts'
import { concludeRefusal, rejectRefusals } from './conclude.ts'
import type { Refusal } from './refusals.ts'

/** The refusals of one run: concluded one by one, or all rejected when there are many at once. */
export interface RunRefusals {
  /** Why the run must stop: the API refuses many keys at once. */
  doubt(): string | undefined
  /** What came of a key. Concludes what was held back long enough. */
  add(key: string, taken: IngestResult): Promise<void>
  /**
   * At the end, before the tally is closed.
   * @param isSound the run came to its end; after a failure, what is held back waits for the next run
   */
  close(isSound: boolean): Promise<void>
}

/**
 * A confirmed refusal is held back until enough other keys have answered, or the run ends, without many being refused: what
 * a kill meanwhile loses is refused again the next time the key is asked for.
 */
export function openRefusals(
  resource: Worklist,
  engine: Engine,
  tally: RunSummary,
  { window = refusalWindow }: { readonly window?: number } = {},
): RunRefusals {
  const watch = watchRefusals()
  const refused = new Set<string>()
  let held: { readonly refusal: Refusal; readonly position: number }[] = []
  let position = 0
  let doubt: string | undefined

  function judge(isOver: boolean): void {
    if (!engine.guards.accept) doubt ??= watch.doubt(isOver)
  }

  async function conclude(ready: typeof held): Promise<void> {
    held = held.filter((one) => !ready.includes(one))
    for (const { refusal } of ready) {
      const told = await concludeRefusal(resource, engine, tally.runId, refusal)
      if (told) tally.add(refusal.key, told)
    }
  }

  return {
    doubt: () => doubt,
    async add(key, { refusal }) {
      if (refusal?.state === 'concluded') return
      position += 1
      if (!refusal) watch.add('shown')
      else {
        refused.add(key)
        if (refusal.state === 'confirmed') held.push({ refusal, position })
        // Of what was never shown, nothing can end.
        if (refusal.wasShown || refusal.kind === 'hidden') watch.add(refusal.wasShown ? 'refused' : 'stranger refused')
      }
      judge(false)
      if (doubt === undefined) await conclude(held.filter((one) => position - one.position >= window))
    },
    async close(isSound) {
      judge(true)
      if (doubt !== undefined) {
        const reason = `${doubt}: taken for a failure of the service; nothing was concluded from it`
        await rejectRefusals(resource, engine, tally, [...refused], reason)
        tally.reject(refused.size, { guard: 'mass-refusal', action: 'stopped', reason })
        tally.log.warn({ keys: refused.size }, `mass-refusal: ${reason}`)
      } else if (isSound) await conclude(held)
    },
  }
}
