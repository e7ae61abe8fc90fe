import type { Clock } from '../app/clock.ts'
import { codeOf } from '../app/errors.ts'

/** How long the receiver may take, and how long to wait before the only retry, ms. */
const TIMEOUT = 5000
const RETRY_AFTER = 1000

/** Sends JSON to one URL in the background. */
export interface Delivery {
  /** @param onFailure called with the reason when the body could not be delivered; the reason never holds the URL */
  send(body: string, onFailure: (reason: string) => void): void
  /** Resolves when everything was delivered; aborts what was not after `ms`. */
  close(ms: number): Promise<void>
}

/** @param url secret */
export function openDelivery(url: string, clock: Clock): Delivery {
  const pending = new Set<Promise<void>>()
  const ending = new AbortController()
  return {
    send(body, onFailure) {
      const sending = post({ url, body, clock, signal: ending.signal }).then((failure) => {
        pending.delete(sending)
        if (failure !== null) onFailure(failure)
      })
      pending.add(sending)
    },
    async close(ms) {
      const over = new AbortController()
      await Promise.race([Promise.all(pending), clock.sleep(ms, over.signal).catch(() => undefined)])
      over.abort()
      ending.abort()
    },
  }
}

interface Post {
  readonly url: string
  readonly body: string
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Posts once, and once more when that failed; returns the reason of a failure, or null. */
async function post(request: Post): Promise<string | null> {
  const { clock, signal } = request
  const first = await postOnce(request)
  if (first === null || signal.aborted) return first
  await clock.sleep(RETRY_AFTER, signal).catch(() => undefined)
  return signal.aborted ? first : await postOnce(request)
}

async function postOnce({ url, body, clock, signal }: Post): Promise<string | null> {
  const late = new AbortController()
  const over = new AbortController()
  clock.sleep(TIMEOUT, over.signal).then(
    () => late.abort(),
    () => undefined,
  )
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      // A redirect may lead to another receiver.
      redirect: 'manual',
      signal: AbortSignal.any([late.signal, signal]),
    })
    await response.body?.cancel()
    return response.ok ? null : `status ${response.status}`
  } catch (error) {
    if (late.signal.aborted) return `no response within ${TIMEOUT / 1000} s`
    if (signal.aborted) return 'the process ended'
    // Not the message: it may repeat the URL.
    return String(codeOf(error instanceof Error ? error.cause : undefined) ?? 'no connection')
  } finally {
    over.abort()
  }
}
