import { readFileSync } from 'node:fs'
import type { Clock } from '../base/clock.ts'
import { replaceFile } from '../base/private-folder.ts'
import type { ProxySettings } from '../base/proxies.ts'
import { visibleText } from '../base/terminal-text.ts'
import { noMentions, slackText } from './chat-text.ts'
import { openDelivery } from './webhook-delivery.ts'

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
const PAUSE = 600_000

export const noWebhook: Webhook = { notify: () => {}, ran: () => {}, close: async () => {} }

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
  const isRecent = (at: number) => Math.abs(clock.now() - at) < PAUSE
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
