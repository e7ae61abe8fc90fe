import { version } from '../app/app.ts'
import { type Clock, within } from '../app/clock.ts'
import { codeOf } from '../app/errors.ts'

/** How long the receiver may take, and how long to wait before the only retry, ms. */
const TIMEOUT = 5000
const RETRY_AFTER = 1000

/** Sends JSON to one URL in the background. @param url secret */
export function openDelivery(url: string, clock: Clock) {
  const pending = new Set<Promise<void>>()
  const ending = new AbortController()
  return {
    /** @param onFailure called with the reason when the body could not be delivered; the reason never holds the URL */
    send(body: string, onFailure: (reason: string) => void): void {
      const sending = post({ url, body, clock, signal: ending.signal }).then((failure) => {
        pending.delete(sending)
        if (failure !== null) onFailure(failure)
      })
      pending.add(sending)
    },
    /** Resolves when everything was delivered; aborts what was not after `ms`. */
    async close(ms: number): Promise<void> {
      await within(clock, ms, Promise.all(pending))
      ending.abort()
    },
  }
}

export interface Post {
  /** Secret. */
  readonly url: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface Posted {
  /** The reason, without the URL; null: it was delivered. */
  readonly failure: string | null
  /** For how many ms the receiver asked not to send anything. */
  readonly pause: number
}

/** The longest pause that a receiver may ask for, ms. */
const LONGEST_PAUSE = 3_600_000

/** Posts once, and once more when that failed; returns the reason of a failure, or null. */
async function post(request: Post): Promise<string | null> {
  const { clock, signal } = request
  const first = await postOnce(request)
  if (first.failure === null || signal.aborted) return first.failure
  await clock.sleep(Math.max(RETRY_AFTER, Math.min(first.pause, TIMEOUT)), signal).catch(() => undefined)
  return signal.aborted ? first.failure : (await postOnce(request)).failure
}

/** Posts once; a receiver that takes too long counts as a failure. */
export async function postOnce({ url, body, headers, clock, signal }: Post): Promise<Posted> {
  const late = new AbortController()
  const over = new AbortController()
  clock.sleep(TIMEOUT, over.signal).then(
    () => late.abort(),
    () => undefined,
  )
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': `wynnsync/${version}`, ...headers },
      body,
      // A redirect may lead to another receiver.
      redirect: 'manual',
      signal: AbortSignal.any([late.signal, signal]),
    })
    await response.body?.cancel()
    return { failure: response.ok ? null : `status ${response.status}`, pause: pauseOf(response) }
  } catch (error) {
    return { failure: failureOf(error, late.signal, signal), pause: 0 }
  } finally {
    over.abort()
  }
}

function failureOf(error: unknown, late: AbortSignal, ending: AbortSignal): string {
  if (late.aborted) return `no response within ${TIMEOUT / 1000} s`
  if (ending.aborted) return 'the process ended'
  // Not the message: it may repeat the URL.
  return String(codeOf(error instanceof Error ? error.cause : undefined) ?? 'no connection')
}

/** After a 429 what `Retry-After` says, in seconds; Discord also says that nothing is left until its window ends. */
function pauseOf({ status, headers }: Response): number {
  const secondsOf = (name: string) => Number(headers.get(name) ?? Number.NaN)
  const isSpent = status === 429 || headers.get('x-ratelimit-remaining') === '0'
  if (!isSpent && status !== 503) return 0
  const given = [secondsOf('retry-after'), isSpent ? secondsOf('x-ratelimit-reset-after') : Number.NaN]
  const seconds = given.filter((one) => one > 0)
  return Math.min(LONGEST_PAUSE, 1000 * Math.max(0, ...seconds))
}
