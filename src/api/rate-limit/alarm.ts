import type { Clock } from '../../base/clock.ts'

/** At most one sleep at a time. @param onAlarm called when the instant has come */
export function createAlarm(clock: Clock, onAlarm: () => void) {
  let current: { readonly at: number; readonly cancel: AbortController } | null = null
  return {
    /** Sleeps until `at` (ms since the epoch) instead of any earlier setting. Infinity: not at all. */
    set(at: number): void {
      if (current?.at === at) return
      current?.cancel.abort()
      current = null
      if (!Number.isFinite(at)) return
      const cancel = new AbortController()
      current = { at, cancel }
      const wake = () => {
        if (cancel.signal.aborted) return
        current = null
        onAlarm()
      }
      clock.sleep(at - clock.now(), cancel.signal).then(wake, () => undefined)
    },
  }
}
