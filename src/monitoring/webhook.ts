import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../app/clock.ts'
import { createFolder } from '../app/private-folder.ts'
import { visibleText } from '../app/terminal-text.ts'

/** Something a person wants to hear of. */
export interface Notice {
  readonly event: 'failure' | 'recovery' | 'guard' | 'start' | 'stop'
  /** Null: it is about the program. */
  readonly resource: string | null
  readonly message: string
  /** Whatever else there is to say; becomes fields of the JSON. */
  readonly more?: Readonly<Record<string, string | number | null>>
}

/** A run that ended, as far as it may be worth telling. */
export interface Ended {
  readonly resource: string
  readonly status: string
  readonly error?: string
  readonly runId?: string
  readonly guarded?: readonly { readonly guard: string; readonly action: string; readonly reason: string }[]
}

/** Somebody who is told. Nothing here throws, and nobody waits for it. */
export interface Webhook {
  tell(notice: Notice): void
  /** Tells of a run: the first failure of a series, the success after it, and what guards did. */
  ran(run: Ended): void
  /** Resolves when everything was delivered; what was not after `ms` is given up. */
  close(ms: number): Promise<void>
}

export interface WebhookOptions {
  /** Secret; it appears nowhere else. */
  readonly url: string
  readonly clock: Clock
  /** A file that remembers what was told, for the processes of a crontab. */
  readonly memory: string
  /** Told when something could not be delivered; without the URL. */
  readonly warn: (message: string) => void
}

/** At most one notice of an event and resource in so many ms. */
const PAUSE = 600_000
/** How long the receiver may take, and how long to wait before the only repeat, ms. */
const PATIENCE = 5000
const BEFORE_REPEAT = 1000

/** The webhook that nobody has configured. */
export const noWebhook: Webhook = { tell: () => {}, ran: () => {}, close: async () => {} }

/** Opens a webhook that gets JSON by POST. */
export function openWebhook({ url, clock, memory, warn }: WebhookOptions): Webhook {
  const { told, failing } = readMemory(memory)
  const pending = new Set<Promise<void>>()
  const ending = new AbortController()
  let isForgetful = false

  function mayTell({ event, resource }: Pick<Notice, 'event' | 'resource'>): boolean {
    const name = `${event} ${resource ?? ''}`
    const last = told.get(name)
    // A clock that was set back must not silence it.
    if (last !== undefined && Math.abs(clock.now() - last) < PAUSE) return false
    told.set(name, clock.now())
    return true
  }

  function remember(): void {
    for (const [name, at] of told) if (Math.abs(clock.now() - at) >= PAUSE) told.delete(name)
    try {
      createFolder(dirname(memory))
      writeFileSync(`${memory}.new`, JSON.stringify({ told: Object.fromEntries(told), failing: [...failing] }))
      renameSync(`${memory}.new`, memory)
    } catch {
      if (!isForgetful) warn('what the webhook was told cannot be remembered: later processes may tell it again')
      isForgetful = true
    }
  }

  /** @param undone called when it could not be delivered */
  function deliver({ event, resource, message, more = {} }: Notice, undone: () => void = () => {}): void {
    const at = new Date(clock.now()).toISOString()
    const content = visibleText(`wynnsync: ${resource === null ? '' : `${resource}: `}${event}: ${message}`).slice(
      0,
      1900,
    )
    // `text` is what Slack shows, `content` what Discord does. A name must notify nobody: Slack reads `<!channel>` and
    // `<@U1>` unless these three characters are escaped, Discord asks who may be mentioned.
    const text = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    const forChats = { text, content, allowed_mentions: { parse: [] } }
    const body = JSON.stringify({ event, resource, at, message, ...more, ...forChats })
    const sending = post({ url, body, clock, signal: ending.signal }).then((failure) => {
      pending.delete(sending)
      if (failure === null) return
      warn(`the webhook could not be told of ${event}: ${failure}`)
      undone()
    })
    pending.add(sending)
  }

  function tell(notice: Notice, undone?: () => void): boolean {
    if (!mayTell(notice)) return false
    deliver(notice, undone)
    return true
  }

  return {
    tell: (notice) => {
      if (tell(notice)) remember()
    },
    ran: ({ resource, status, error = status, runId, guarded = [] }) => {
      if (status === 'skipped') return
      const more = runId === undefined ? {} : { run: runId }
      const mark = (isFailing: boolean) => {
        if (isFailing) failing.add(resource)
        else failing.delete(resource)
      }
      let isNews = false
      const news = (event: 'failure' | 'recovery', message: string) => {
        const isFailure = event === 'failure'
        const undone = () => {
          mark(!isFailure)
          remember()
        }
        if (!tell({ event, resource, message, more }, undone)) return
        mark(isFailure)
        isNews = true
      }
      // What the pause kept back is told as soon as it may, if it still holds.
      if (status === 'failed' && !failing.has(resource)) news('failure', error)
      if (status !== 'failed' && failing.has(resource)) news('recovery', `works again: ${status}`)
      const [first] = guarded
      if (first) {
        const others = guarded.length > 1 ? ` (and ${guarded.length - 1} more)` : ''
        const { guard, action: done } = first
        const action = { ...more, guard, action: done, actions: guarded.length }
        isNews = tell({ event: 'guard', resource, message: `${first.reason}${others}`, more: action }) || isNews
      }
      if (isNews) remember()
    },
    async close(ms) {
      const over = new AbortController()
      await Promise.race([Promise.all(pending), clock.sleep(ms, over.signal).catch(() => undefined)])
      over.abort()
      ending.abort()
    },
  }
}

function readMemory(file: string): { told: Map<string, number>; failing: Set<string> } {
  try {
    const { told, failing } = JSON.parse(readFileSync(file, 'utf8')) as { told: object; failing: string[] }
    return { told: new Map(Object.entries(told)), failing: new Set(failing) }
  } catch {
    return { told: new Map(), failing: new Set() }
  }
}

interface Posting {
  readonly url: string
  readonly body: string
  readonly clock: Clock
  /** Gives it up. */
  readonly signal: AbortSignal
}

/** Posts once, and once more when that failed; returns what was wrong in the end, or null. */
async function post(posting: Posting): Promise<string | null> {
  const { clock, signal } = posting
  const first = await postOnce(posting)
  if (first === null || signal.aborted) return first
  await clock.sleep(BEFORE_REPEAT, signal).catch(() => undefined)
  return signal.aborted ? first : await postOnce(posting)
}

async function postOnce({ url, body, clock, signal }: Posting): Promise<string | null> {
  const late = new AbortController()
  const over = new AbortController()
  clock.sleep(PATIENCE, over.signal).then(
    () => late.abort(),
    () => undefined,
  )
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      // Elsewhere it would be somebody else's.
      redirect: 'manual',
      signal: AbortSignal.any([late.signal, signal]),
    })
    await response.body?.cancel()
    return response.ok ? null : `status ${response.status}`
  } catch (error) {
    if (late.signal.aborted) return `no answer within ${PATIENCE / 1000} s`
    if (signal.aborted) return 'no time was left'
    // Not the message: it may repeat the URL.
    const cause = error instanceof Error ? error.cause : undefined
    return cause instanceof Error && 'code' in cause ? String(cause.code) : 'no connection'
  } finally {
    over.abort()
  }
}
