import * as z from 'zod'
import { isStorable } from '../../api/schemas/form/limits.ts'
import { UsageError } from '../../base/errors.ts'
import { visibleLine } from '../../base/terminal-text.ts'
import { parseQuietHours } from './quiet-hours.ts'

/** Everything a watch can send a message about. */
export const watchEvents = [
  'captured',
  'lost',
  'joined',
  'left',
  'rank',
  'renamed',
  'item changed',
  'patch',
  'world down',
  'online',
  'news',
  'freshness late',
  'level',
  'counter',
  'top',
  'rating gap',
  'in pool',
  'event soon',
] as const

export type WatchEvent = (typeof watchEvents)[number]

/** Characters of a name. */
const longestName = 200

const cannotBeStored = 'must have no characters that a database cannot store'
const text = z.string().min(1).max(longestName).refine(isStorable, cannotBeStored)
const names = z.array(text).min(1).max(100)
const url = z
  .url({ protocol: /^https?$/ })
  .refine(isStorable, cannotBeStored)
  .describe('secret')

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
    command: z
      .string()
      .min(1)
      .refine(isStorable, cannotBeStored)
      .describe('for the shell; gets the message as JSON on stdin'),
  }),
])

const watch = z
  .strictObject({
    name: text.regex(/^[\w.-]+$/, 'must have letters, digits, `_`, `-` and `.` only'),
    events: z.array(z.enum(watchEvents)).min(1),
    guild: names.optional().describe('names, prefixes or uuids'),
    territory: names.optional(),
    player: names.optional().describe('names or uuids'),
    item: names.optional().describe('names, as the API or as players spell them; also of rewards in pools'),
    worldEvent: names.optional().describe('names as players see them'),
    counter: z
      .strictObject({
        kind: z.enum(['guild', 'member', 'player']),
        name: text.describe('as in analytics.counter, such as wars'),
        above: z.number().optional().describe('a message when it comes to so much'),
        gains: z.number().positive().optional().describe('a message when it rose by so much within 24 hours'),
        top: z.int().min(1).max(100).optional().describe('a message about so many who gained most'),
        each: z.enum(['day', 'week', 'month']).optional().describe('in which periods they did, for `top`'),
      })
      .refine(
        ({ above, gains, top }) => [above, gains, top].filter((one) => one !== undefined).length === 1,
        'must have one of above, gains and top',
      )
      .refine(({ top, each }) => (top === undefined) === (each === undefined), 'must have top and each together')
      .optional(),
    gap: z.int().min(1).optional().describe('a message when a guild next to it in the season is so close'),
    before: z.int().min(1).max(1440).optional().describe('minutes before a world event begins (default: 10)'),
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
  .refine(
    ({ events, counter }) => events.includes('counter') === (counter !== undefined && counter.top === undefined),
    {
      message: 'must say which, with the event `counter` and with no other',
      path: ['counter'],
    },
  )
  .refine(({ events, counter }) => events.includes('top') === (counter?.top !== undefined), {
    message: 'must say which, and top and each, with the event `top` and with no other',
    path: ['counter'],
  })
  // Of all there are, the counters would be compared with every response.
  .refine(
    ({ counter, guild, player }) =>
      !counter || counter.top !== undefined || (counter.kind === 'player' ? player : guild) !== undefined,
    {
      message: 'must come with players for a counter of players, with guilds for one of guilds and members',
      path: ['counter'],
    },
  )
  .refine(({ events, gap, guild }) => !events.includes('rating gap') || (gap !== undefined && guild !== undefined), {
    message: 'must be there, and a guild, for the event `rating gap`',
    path: ['gap'],
  })

const watchesSchema = z.strictObject({
  $schema: z.string().optional(),
  site: z
    .url({ protocol: /^https?$/ })
    .refine(isStorable, cannotBeStored)
    .optional()
    .describe('where `wynnsync serve` can be reached, for the links of messages'),
  watches: z
    .array(watch)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must not have the same name twice'),
})

export type WatchFile = z.infer<typeof watchesSchema>
export type Watch = WatchFile['watches'][number]
export type Target = Watch['target']

/** The watches, or everything that is wrong with them, by its place. */
export function checkWatches(content: unknown): { readonly file?: WatchFile; readonly problems: readonly string[] } {
  const { data, error } = watchesSchema.safeParse(content)
  return data ? { file: data, problems: [] } : { problems: error.issues.map((issue) => problemOf(issue, content)) }
}

/** @param whose what they are of, for the error @throws UsageError that lists everything that is wrong, without secrets */
export function parseWatches(whose: string, content: unknown): WatchFile {
  const { file, problems } = checkWatches(content)
  if (file) return file
  throw new UsageError(`${whose} has watches that cannot be used:\n${problems.map((one) => `  ${one}`).join('\n')}`)
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

const anyText = z.string()

/** The file of earlier versions, what `watch` prints, and what watches send. */
export const watchSchemas = {
  watches: watchesSchema,
  'watch-list': z.looseObject({
    database: anyText.nullable().describe('where the watches are; null: there is no history yet'),
    file: anyText.describe('watches.json of earlier versions, which the database takes over where it is'),
    watches: z.array(
      z.looseObject({ name: anyText, events: z.array(anyText), target: anyText.describe('without its secrets') }),
    ),
  }),
  'watch-message': z
    .looseObject({
      id: anyText.describe('idempotency key: the same in every attempt'),
      watch: anyText,
      title: anyText,
      count: z.int().min(0),
      events: z.array(
        z.looseObject({
          event: z.enum(watchEvents),
          at: z.iso.datetime().describe('when it happened, or was first seen'),
          change: z.int().min(0).describe('its number in /changes/N.json'),
          text: anyText,
          url: z.url().optional(),
          guild: anyText.nullish(),
          territory: anyText.optional(),
          player: anyText.nullish(),
          item: anyText.optional(),
        }),
      ),
    })
    .describe('what a watch sends to a webhook or a command'),
} as const
