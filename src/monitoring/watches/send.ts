import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { type Clock, followSignal } from '../../base/clock.ts'
import { environmentOfOthers } from '../../base/config.ts'
import type { Http } from '../../base/http.ts'
import { visibleLine } from '../../base/terminal-text.ts'
import { guildColour } from '../../drawing/colours.ts'
import { discordLine, noMentions, slackText } from '../chat-text.ts'
import { postOnce } from '../webhook.ts'
import type { Occurrence } from './event-queries.ts'
import type { Target } from './watch.ts'

type Posted = Awaited<ReturnType<typeof postOnce>>

/** How long a command may take, ms. */
const COMMAND_TIMEOUT_MS = 10_000

export async function sendMessage(
  target: Target,
  message: Message,
  { clock, signal, http }: { readonly clock: Clock; readonly signal: AbortSignal; readonly http: Http },
): Promise<Posted> {
  if (target.type === 'command') return await runCommand(target.command, JSON.stringify(messageJson(message)), signal)
  const body = bodyOf(target.type, message)
  const secret = target.type === 'webhook' ? target.secret : undefined
  const headers = headersOf(message.id, body, secret, clock.now())
  return await postOnce({ http, url: target.url, body, headers, clock, signal })
}

/** Runs the user's command with the message on stdin. It has none of this program's settings, which may be secret. */
async function runCommand(command: string, input: string, signal: AbortSignal): Promise<Posted> {
  const failed = (failure: string | null) => ({ failure, pause: 0 })
  const env = environmentOfOthers()
  const ending = followSignal(signal)
  const timer = setTimeout(() => ending.abort(), COMMAND_TIMEOUT_MS)
  const posted = new Promise<Posted>((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['pipe', 'ignore', 'ignore'], env, signal: ending.signal })
    child.once('error', () =>
      resolve(
        failed(
          ending.signal.aborted
            ? `the command took longer than ${COMMAND_TIMEOUT_MS / 1000} s`
            : 'the command cannot be run',
        ),
      ),
    )
    child.once('close', (code) => resolve(failed(code === 0 ? null : `the command ended with ${code ?? 'a signal'}`)))
    // A command need not read what it gets.
    child.stdin.on('error', () => undefined).end(input)
  })
  return await posted.finally(() => {
    clearTimeout(timer)
    ending.end()
  })
}

/** A target without its secrets, for people. */
export function targetText(target: Target): string {
  return target.type === 'command' ? 'command' : `${target.type} at ${new URL(target.url).host}`
}

interface Message {
  /** The same in every attempt. */
  readonly id: string
  readonly watch: string
  /** Whether a person tries the watch. */
  readonly isTest?: boolean
  readonly occurrences: readonly Occurrence[]
  /** Where pages are; undefined: messages have no links to them. */
  readonly site?: string | undefined
}

/** Lines that a chat shows. */
const mostLines = 20
/**
 * Characters of a line, of a title, of a link and of all lines, at most: Discord refuses an embed with a title of more than 256, a
 * URL of more than 2048, a description of more than 4096 or more than 6000 in all.
 */
const LINE_CHARACTERS = 200
const TITLE_CHARACTERS = 256
const URL_CHARACTERS = 2048
const TEXT_CHARACTERS = 4000

/** The message for programs: everything, in order. */
function messageJson(message: Message) {
  const { id, watch, occurrences, site } = message
  return {
    id,
    watch,
    title: titleOf(message),
    count: occurrences.length,
    events: occurrences.map(({ writtenAt, path, number, detail, ...rest }) => {
      const url = urlOf(path, site)
      return { ...rest, change: number, ...(url === undefined ? {} : { url }) }
    }),
  }
}

export function bodyOf(type: Exclude<Target['type'], 'command'>, message: Message): string {
  const { occurrences, site } = message
  if (type === 'webhook') return JSON.stringify(messageJson(message))
  const title = titleOf(message)
  if (type === 'slack') {
    const shown = linesOf(occurrences, ({ path, text }) => {
      const url = urlOf(path, site)
      const line = slackText(shortened(visibleLine(text)))
      return url === undefined ? line : `<${slackText(url).replaceAll('|', '%7C')}|${line.replaceAll('|', '¦')}>`
    })
    return JSON.stringify({ text: `${slackText(title)}\n${shown}`, unfurl_links: false })
  }
  return JSON.stringify({ embeds: [embedOf(message)], allowed_mentions: noMentions })
}

/**
 * A message as an embed of Discord: of one occurrence its own title, with what is so since then; of several, a line each. The colour is
 * that of the guild, where all are about one.
 */
function embedOf(message: Message) {
  const { occurrences, site } = message
  const [first] = occurrences
  const only = occurrences.length === 1 ? first : undefined
  const url = only ? urlOf(only.path, site) : site
  const names = new Set(occurrences.map(({ detail }) => detail?.guildName))
  const [guild] = names
  // Of several about no guild, the picture would be that of one.
  const picture =
    first && (only || (names.size === 1 && typeof guild === 'string')) ? pictureOf(first.path, site) : undefined
  return {
    title: only ? shortened(discordLine(shortened(only.text)), TITLE_CHARACTERS) : titleOf(message),
    description: only ? aboutOne(only, site) : linesOf(occurrences, (one) => discordItem(one, site)),
    ...(url && url.length <= URL_CHARACTERS ? { url } : {}),
    ...(names.size === 1 && typeof guild === 'string'
      ? { color: Number.parseInt(guildColour(guild).slice(1), 16) }
      : {}),
    ...(picture === undefined ? {} : { thumbnail: { url: picture } }),
    footer: { text: nameOf(message) },
    timestamp: occurrences.at(-1)?.at.toISOString(),
  }
}

/** What is so since an occurrence, and how long ago it was, which Discord counts. */
function aboutOne({ at, detail }: Occurrence, site: string | undefined): string {
  const map = detail?.map === undefined ? undefined : urlOf(detail.map, site)
  const total = detail?.total === undefined ? [] : [discordLine(shortened(detail.total))]
  return [...total, map === undefined ? ago(at) : `[on the map](${linkable(map)}) ${ago(at)}`].join('\n')
}

function discordItem({ at, path, text }: Occurrence, site: string | undefined): string {
  const url = urlOf(path, site)
  const line = discordLine(shortened(text))
  return `${url === undefined ? line : `[${line}](${linkable(url)})`} ${ago(at)}`
}

/** @see https://discord.com/developers/docs/reference#message-formatting */
const ago = (at: Date) => `<t:${Math.floor(at.getTime() / 1000)}:R>`

/** An address between the brackets of a link. */
const linkable = (url: string) => url.replaceAll('(', '%28').replaceAll(')', '%29')

/** The picture of a page that has one; pages of players have none. */
function pictureOf(path: string, site: string | undefined): string | undefined {
  return /^\/(guilds|territories|items|patches)\//.test(path) ? urlOf(`/og${path}.png`, site) : undefined
}

/** The headers that identify and sign a message, as Standard Webhooks name them. @param now ms since the epoch */
function headersOf(id: string, body: string, secret: string | undefined, now: number): Record<string, string> {
  const seconds = String(Math.floor(now / 1000))
  const headers = { 'idempotency-key': id, 'webhook-id': id, 'webhook-timestamp': seconds }
  if (secret === undefined) return headers
  // A secret in the form of Standard Webhooks is Base64.
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${signature}` }
}

/** What people read as the name of the watch. */
const nameOf = ({ watch, isTest = false }: Message) => (isTest ? `test of ${watch}` : watch)

function titleOf(message: Message): string {
  const headings = new Set(message.occurrences.map(({ detail }) => detail?.heading))
  const [heading] = headings
  if (headings.size === 1 && heading !== undefined) return shortened(`${nameOf(message)}: ${heading}`, TITLE_CHARACTERS)
  const counts = new Map<string, number>()
  for (const { event } of message.occurrences) counts.set(event, (counts.get(event) ?? 0) + 1)
  const parts = [...counts].map(([event, count]) => (count === 1 ? event : `${count} ${event}`))
  return shortened(`${nameOf(message)}: ${parts.join(', ')}`, TITLE_CHARACTERS)
}

function linesOf(occurrences: readonly Occurrence[], lineOf: (one: Occurrence) => string): string {
  const lines: string[] = []
  let length = 0
  for (const line of occurrences.slice(0, mostLines).map(lineOf)) {
    length += line.length + 1
    if (length > TEXT_CHARACTERS) break
    lines.push(line)
  }
  const left = occurrences.length - lines.length
  return [...lines, ...(left > 0 ? [`and ${left} more`] : [])].join('\n')
}

function shortened(text: string, most: number = LINE_CHARACTERS): string {
  // Not between the halves of a character.
  return text.length > most ? `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : text
}

/** Only pages and web addresses: a name may have become a link of another kind, or one that is too long for a chat. */
function urlOf(path: string, site: string | undefined): string | undefined {
  const url = addressOf(path, site)
  return url !== undefined && url.length <= URL_CHARACTERS ? url : undefined
}

function addressOf(path: string, site: string | undefined): string | undefined {
  if (/^https?:\/\//i.test(path)) return URL.canParse(path) ? new URL(path).href : undefined
  return site === undefined || !path.startsWith('/') ? undefined : `${site.replace(/\/+$/, '')}${path}`
}
