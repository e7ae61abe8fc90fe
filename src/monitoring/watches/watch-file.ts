import { readFileSync, statSync } from 'node:fs'
import * as z from 'zod'
import { codeOf, messageOf, UsageError } from '../../app/errors.ts'
import { replaceFile } from '../../app/private-folder.ts'
import { visibleLine } from '../../app/terminal-text.ts'
import { textOfFile } from '../../app/text/decode.ts'
import { parseQuietHours } from './quiet-hours.ts'

/** Everything a watch can send a message about. */
export const watchEvents = [
  ...['captured', 'lost', 'joined', 'left', 'rank', 'item changed', 'patch'],
  ...['world down', 'online', 'news', 'freshness late'],
] as const

export type WatchEvent = (typeof watchEvents)[number]

/** Characters of a name. */
const longestName = 200

const text = z.string().min(1).max(longestName)
const names = z.array(text).min(1).max(100)
const url = z.url({ protocol: /^https?$/ }).describe('secret')

const target = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('discord'), url }),
  z.strictObject({ type: z.literal('slack'), url }),
  z.strictObject({
    type: z.literal('webhook'),
    url,
    secret: text.optional().describe('signs the messages, as Standard Webhooks do'),
  }),
  z.strictObject({
    type: z.literal('command'),
    command: z.string().min(1).describe('for the shell; gets the message as JSON on stdin'),
  }),
])

const watch = z
  .strictObject({
    name: text.regex(/^[\w.-]+$/, 'must have letters, digits, `_`, `-` and `.` only'),
    events: z.array(z.enum(watchEvents)).min(1),
    guild: names.optional().describe('names, prefixes or uuids'),
    territory: names.optional(),
    player: names.optional().describe('names or uuids'),
    item: names.optional().describe('names, as the API or as players spell them'),
    atLeast: z
      .strictObject({ events: z.int().min(2).max(1000), minutes: z.int().min(1).max(1440) })
      .optional()
      .describe('a message only when so many events come within so many minutes'),
    quiet: z
      .string()
      .refine((hours) => parseQuietHours(hours) !== null, 'must be like 22:00-07:00')
      .optional()
      .describe('hours in which nothing is sent; what happens then comes afterwards. UTC unless a time zone is given'),
    groupSeconds: z.int().min(0).max(3600).default(60).describe('what happens within so many seconds is one message'),
    target,
  })
  .refine(({ events, player }) => !events.includes('online') || player !== undefined, {
    message: 'must name players: the event `online` needs them',
    path: ['player'],
  })

export const watchesSchema = z.strictObject({
  $schema: z.string().optional(),
  site: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('where `wynnsync serve` can be reached, for the links of messages'),
  watches: z
    .array(watch)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must not have the same name twice'),
})

export type WatchFile = z.infer<typeof watchesSchema>
export type Watch = WatchFile['watches'][number]
export type Target = Watch['target']

const none: WatchFile = { watches: [] }

/**
 * The watches; none when there is no file.
 * @throws UsageError that lists everything that is wrong with the file, without its secrets
 */
export function readWatches(file: string): WatchFile {
  let content: string
  try {
    content = textOfFile(readFileSync(file), file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return none
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}`)
  }
  return parseWatches(file, parsed(file, content))
}

/** @throws UsageError that lists everything that is wrong, by its place in the file */
export function parseWatches(file: string, content: unknown): WatchFile {
  const { data, error } = watchesSchema.safeParse(content)
  if (data) return data
  const problems = error.issues.map((issue) => `  ${problemOf(issue, content)}`)
  throw new UsageError(`${file} has watches that cannot be used:\n${problems.join('\n')}`)
}

/** The place of something wrong, what it must be, and what it is where that can be no secret. */
function problemOf(issue: z.core.$ZodIssue, content: unknown): string {
  const { path } = issue
  const value = path.reduce<unknown>((within, part) => Object(within)[part], content)
  // A URL may have been written in the wrong place.
  const isOpen = path.length > 2 && !path.includes('target') && !String(value).includes('://')
  const isShown = isOpen && /^(string|number|boolean)$/.test(typeof value) && String(value).length <= longestName
  const wrong = value === undefined && issue.code === 'invalid_type' ? 'is missing' : mustBe(issue)
  return visibleLine(`${path.join('.') || 'the file'} ${wrong}${isShown && value !== '' ? `, got ${value}` : ''}`)
}

function mustBe(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${issue.expected === 'int' ? 'a whole number' : `${/^[ao]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`}`
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.join(', ')}`
    case 'invalid_union':
      return `must be one of ${target.options.map(({ shape }) => shape.type.value).join(', ')}`
    case 'too_small':
      return /string|array/.test(issue.origin) ? 'must not be empty' : `must be at least ${issue.minimum}`
    case 'too_big':
      return /string|array/.test(issue.origin)
        ? `must have at most ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'elements'}`
        : `must be at most ${issue.maximum}`
    case 'invalid_format':
      return issue.format === 'url' ? 'must be a URL of http or https' : issue.message
    default:
      return issue.message
  }
}

/** Replaces the file, readable by its owner only: URLs of webhooks are secrets. */
export function writeWatches(file: string, content: WatchFile): void {
  replaceFile(file, `${JSON.stringify(content, null, 2)}\n`)
}

/** Whether other users of this machine can read the file. */
export function isShared(file: string): boolean {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
  return process.platform !== 'win32' && (mode & 0o077) !== 0
}

// Without a cause: a parser's error quotes the text.
function parsed(file: string, content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    throw new UsageError(`${file} is not JSON`)
  }
}
