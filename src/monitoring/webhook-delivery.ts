import { setMaxListeners } from 'node:events'
import { version } from '../app/app.ts'
import { type Clock, followSignal, within } from '../base/clock.ts'
import { codeOf, FatalError, RetryableError, UsageError } from '../base/errors.ts'
import { type Http, openHttp, redirectTarget, sendTo } from '../base/http.ts'
import type { ProxySettings } from '../base/proxies.ts'

/** How long the receiver may take, and how long to wait before the only retry, ms. */
const TIMEOUT = 5000
const RETRY_AFTER = 1000

/** Sends JSON to one URL in the background. @param url secret */
export function openDelivery(url: string, clock: Clock, proxy: ProxySettings | undefined) {
  const pending = new Set<Promise<void>>()
  const ending = new AbortController()
  setMaxListeners(0, ending.signal)
  const http = openHttp({ proxy })
  return {
    /** @param onFailure called with the reason when the body could not be delivered; the reason never holds the URL */
    send(body: string, onFailure: (reason: string) => void): void {
      const sending = post({ http, url, body, clock, signal: ending.signal }).then((failure) => {
        pending.delete(sending)
        if (failure !== null) onFailure(failure)
      })
      pending.add(sending)
    },
    /** Resolves when everything was delivered; aborts what was not after `ms`. */
    async close(ms: number): Promise<void> {
      await within(clock, ms, Promise.all(pending))
      ending.abort()
      await http.close()
    },
  }
}

interface Post {
  readonly http: Http
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
  /** Only a person can mend it: another attempt soon is in vain. */
  readonly isLasting?: boolean
  /** For how many ms the receiver asked not to send anything. */
  readonly pause: number
}

/** The longest pause that a receiver may ask for, ms. */
const LONGEST_PAUSE = 3_600_000

/** Posts once, and once more when that failed; returns the reason of a failure, or null. */
async function post(request: Post): Promise<string | null> {
  const { clock, signal } = request
  const first = await postOnce(request)
  if (first.failure === null || first.isLasting || signal.aborted) return first.failure
  await clock.sleep(Math.max(RETRY_AFTER, Math.min(first.pause, TIMEOUT)), signal).catch(() => undefined)
  return signal.aborted ? first.failure : (await postOnce(request)).failure
}

/** Posts once; a receiver that takes too long counts as a failure. */
export async function postOnce({ http, url, body, headers, clock, signal }: Post): Promise<Posted> {
  const ending = followSignal(signal)
  const over = new AbortController()
  let isLate = false
  clock.sleep(TIMEOUT, over.signal).then(
    () => {
      isLate = true
      ending.abort()
    },
    () => undefined,
  )
  try {
    const {
      statusCode,
      headers: given,
      body: answer,
    } = await sendTo(http, url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': `wynnsync/${version}`, ...headers },
      body,
      signal: ending.signal,
    })
    // Nothing is done with what it says.
    answer.on('error', () => {}).destroy()
    return { failure: failureOf(statusCode, given.location, url), pause: pauseOf(statusCode, given) }
  } catch (error) {
    if (isLate) return { failure: `no response within ${TIMEOUT / 1000} s`, pause: 0 }
    if (signal.aborted) return { failure: 'the process ended', pause: 0 }
    // Of other errors not the message: it may repeat the URL.
    const isNamed = error instanceof FatalError || error instanceof RetryableError || error instanceof UsageError
    const failure = isNamed ? error.message : String(codeOf(error) ?? 'no connection')
    return { failure, isLasting: error instanceof FatalError, pause: 0 }
  } finally {
    ending.end()
    over.abort()
  }
}

function failureOf(status: number, location: unknown, url: string): string | null {
  if (status >= 200 && status < 300) return null
  const elsewhere = redirectTarget(status, location, url)
  // Its path may be as secret as that of the URL.
  const origin = elsewhere && URL.canParse(elsewhere) ? new URL(elsewhere).origin : undefined
  return `status ${status}${origin ? `, a redirect to ${origin}, which is not followed` : ''}`
}

/** After a 429 what `Retry-After` says, in seconds; Discord also says that nothing is left until its window ends. */
function pauseOf(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): number {
  const secondsOf = (name: string) => Number(headers[name] ?? Number.NaN)
  const isSpent = status === 429 || headers['x-ratelimit-remaining'] === '0'
  if (!isSpent && status !== 503) return 0
  const given = [secondsOf('retry-after'), isSpent ? secondsOf('x-ratelimit-reset-after') : Number.NaN]
  const seconds = given.filter((one) => one > 0)
  return Math.min(LONGEST_PAUSE, 1000 * Math.max(0, ...seconds))
}
