import { setMaxListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { version } from '../app/app.ts'
import { type Clock, followSignal, within } from '../base/clock.ts'
import { codeOf, FatalError, RetryableError, UsageError } from '../base/errors.ts'
import { type Http, openHttp, redirectTarget, sendTo } from '../base/http.ts'
import { replaceFile } from '../base/private-folder.ts'
import type { ProxySettings } from '../base/proxies.ts'
import { visibleText } from '../base/terminal-text.ts'
import { noMentions, slackText } from './chat-text.ts'

/** How long the receiver may take, and how long to wait before the only retry, ms. */
const TIMEOUT_MS = 5000
const RETRY_AFTER_MS = 1000

/** Sends JSON to one URL in the background. @param url secret */
function openDelivery(url: string, clock: Clock, proxy: ProxySettings | undefined) {
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

interface Posted {
  /** The reason, without the URL; null: it was delivered. */
  readonly failure: string | null
  /** Only a person can mend it: another attempt soon is in vain. */
  readonly isLasting?: boolean
  /** For how many ms the receiver asked not to send anything. */
  readonly pause: number
}

/** Posts once, and once more when that failed; returns the reason of a failure, or null. */
async function post(request: Post): Promise<string | null> {
  const { clock, signal } = request
  const first = await postOnce(request)
  if (first.failure === null || first.isLasting || signal.aborted) return first.failure
  await clock.sleep(Math.max(RETRY_AFTER_MS, Math.min(first.pause, TIMEOUT_MS)), signal).catch(() => undefined)
  return signal.aborted ? first.failure : (await postOnce(request)).failure
}

/** Posts once; a receiver that takes too long counts as a failure. */
export async function postOnce({ http, url, body, headers, clock, signal }: Post): Promise<Posted> {
  const ending = followSignal(signal)
  const over = new AbortController()
  let isLate = false
  clock.sleep(TIMEOUT_MS, over.signal).then(
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
    return { failure: failureOf(statusCode, given.location, url), pause: pauseOf(statusCode, given, clock.now()) }
  } catch (error) {
    if (isLate) return { failure: `no response within ${TIMEOUT_MS / 1000} s`, pause: 0 }
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

/** After a 429 what `Retry-After` says, in seconds or as a date; Discord also says that nothing is left until its window ends. */
function pauseOf(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now: number,
): number {
  const secondsOf = (name: string) => Number(headers[name] ?? Number.NaN)
  const isSpent = status === 429 || headers['x-ratelimit-remaining'] === '0'
  if (!isSpent && status !== 503) return 0
  const after = secondsOf('retry-after')
  // By the receiver's own clock, where it says what that is.
  const date = Date.parse(String(headers['retry-after'])) - (Date.parse(String(headers.date)) || now)
  const given = [Number.isNaN(after) ? date / 1000 : after, isSpent ? secondsOf('x-ratelimit-reset-after') : Number.NaN]
  const seconds = given.filter((one) => one > 0)
  return 1000 * Math.max(0, ...seconds)
}

interface Notice {
  readonly event: 'failure' | 'recovery' | 'guard' | 'start' | 'stop'
  /** Null: it is about the program. */
  readonly resource: string | null
  readonly message: string
  /** Further fields of the JSON. */
  readonly more?: Readonly<Record<string, string | number | null>>
}

/** A run that ended, as far as the webhook needs it. */
interface EndedRun {
  readonly resource: string
  readonly status: string
  readonly error?: string
  readonly runId?: string
  readonly guarded?: readonly { readonly guard: string; readonly action: string; readonly reason: string }[]
}

/** Sends notices in the background; nothing here throws. */
export interface Webhook {
  notify(notice: Notice): void
  /** Sends the first failure of a series, the success after it, and what guards did. */
  ran(run: EndedRun): void
  /** Resolves when everything was delivered; gives up after `ms`. */
  close(ms: number): Promise<void>
}

interface WebhookOptions {
  /** Secret; it appears nowhere else. */
  readonly url: string
  readonly clock: Clock
  readonly proxy?: ProxySettings | undefined
  /** File of what was sent, for the processes of a crontab. */
  readonly memory: string
  /** Called when something could not be delivered; without the URL. */
  readonly warn: (message: string) => void
}

/** At most one notice of an event and resource in so many ms. */
const REPEATED_AFTER_MS = 600_000

/** Opens a webhook that gets JSON by POST. */
export function openWebhook({ url, clock, proxy, memory: file, warn }: WebhookOptions): Webhook {
  const memory = openMemory(file, clock, warn)
  const delivery = openDelivery(url, clock, proxy)

  /** @returns whether it is sent: an earlier one of the same event and resource may be too recent */
  function send(notice: Notice, undo: () => void = () => {}): boolean {
    const { event, resource } = notice
    if (!memory.mayNotify(`${event} ${resource ?? ''}`)) return false
    delivery.send(bodyOf(notice, clock.now()), (reason) => {
      warn(`the webhook could not be notified of ${event}: ${reason}`)
      undo()
    })
    return true
  }

  /** A failure or recovery; the resource counts as failing or not only when the notice is delivered. */
  function sendChange(event: 'failure' | 'recovery', resource: string, rest: Pick<Notice, 'message' | 'more'>) {
    const [now, before] = event === 'failure' ? (['add', 'delete'] as const) : (['delete', 'add'] as const)
    const undo = () => {
      memory.failing[before](resource)
      memory.save()
    }
    const isSent = send({ event, resource, ...rest }, undo)
    if (isSent) memory.failing[now](resource)
    return isSent
  }

  return {
    notify: (notice) => {
      if (send(notice)) memory.save()
    },
    ran: ({ resource, status, error = status, runId, guarded = [] }) => {
      if (status === 'skipped' || status === 'interrupted') return
      const more = runId === undefined ? {} : { run: runId }
      const isFailing = memory.failing.has(resource)
      let isSent = false
      // What the pause kept back is sent with a later run, if it still holds.
      if (status === 'failed' && !isFailing) isSent = sendChange('failure', resource, { message: error, more })
      if (status !== 'failed' && isFailing)
        isSent = sendChange('recovery', resource, { message: `works again: ${status}`, more })
      const [first] = guarded
      if (first) {
        const { guard, action, reason } = first
        const message = guarded.length > 1 ? `${reason} (and ${guarded.length - 1} more)` : reason
        isSent =
          send({ event: 'guard', resource, message, more: { ...more, guard, action, actions: guarded.length } }) ||
          isSent
      }
      if (isSent) memory.save()
    },
    close: delivery.close,
  }
}

function bodyOf({ event, resource, message, more = {} }: Notice, now: number): string {
  const line = `wynnsync: ${resource === null ? '' : `${resource}: `}${event}: ${message}`
  // `text` is what Slack shows, `content` what Discord does. A name must mention no one.
  const content = visibleText(line).slice(0, 1900)
  const forChats = { text: slackText(content), content, allowed_mentions: noMentions }
  return JSON.stringify({ event, resource, at: new Date(now).toISOString(), message, ...more, ...forChats })
}

/** What was sent when, and which resources fail; kept in a file. */
function openMemory(file: string, clock: Clock, warn: WebhookOptions['warn']) {
  const { sentAt, failing } = readMemory(file)
  let hasWarned = false
  // Absolute: a clock that was set back must not silence it.
  const isRecent = (at: number) => Math.abs(clock.now() - at) < REPEATED_AFTER_MS
  return {
    failing,
    /** Whether the last notice of this name is old enough; if so, counts one as sent now. */
    mayNotify(name: string): boolean {
      const last = sentAt.get(name)
      if (last !== undefined && isRecent(last)) return false
      sentAt.set(name, clock.now())
      return true
    },
    save(): void {
      for (const [name, at] of sentAt) if (!isRecent(at)) sentAt.delete(name)
      try {
        replaceFile(file, JSON.stringify({ sentAt: Object.fromEntries(sentAt), failing: [...failing] }))
      } catch {
        if (!hasWarned) warn('the file of sent webhook notices cannot be written: later processes may repeat them')
        hasWarned = true
      }
    },
  }
}

function readMemory(file: string): { sentAt: Map<string, number>; failing: Set<string> } {
  try {
    const { sentAt = {}, failing } = JSON.parse(readFileSync(file, 'utf8')) as { sentAt?: object; failing: string[] }
    return { sentAt: new Map(Object.entries(sentAt)), failing: new Set(failing) }
  } catch {
    return { sentAt: new Map(), failing: new Set() }
  }
}
