import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { openDatabase } from '../../../app/app.ts'
import { watchFileOf } from '../../../app/config.ts'
import { wholeNumber } from '../../../app/config-values.ts'
import { FatalError, messageOf, UsageError } from '../../../app/errors.ts'
import { openHttp } from '../../../app/http.ts'
import { visibleLine } from '../../../app/terminal-text.ts'
import { type UnmatchedName, unmatchedNames } from '../../../monitoring/watch-names.ts'
import type { Occurrence } from '../../../monitoring/watches/event-queries.ts'
import { sendMessage, targetText } from '../../../monitoring/watches/send.ts'
import {
  parseWatches,
  readWatches,
  type Watch,
  type WatchFile,
  writeWatches,
} from '../../../monitoring/watches/watch-file.ts'
import { type ConsentFlags, consent } from '../../ask.ts'
import { type Context, tableWidth, writeResult, writeSummary } from '../../context.ts'
import { durationFlag } from '../../options.ts'
import { boldFirstLine, formatTable } from '../../output/table.ts'

export interface WatchFlags {
  readonly event?: readonly string[]
  readonly guild?: readonly string[]
  readonly territory?: readonly string[]
  readonly player?: readonly string[]
  readonly item?: readonly string[]
  readonly atLeast?: string
  readonly quietHours?: string
  readonly collect?: string
  /** Seconds: the older form of `collect`. */
  readonly group?: string
  readonly discord?: string
  readonly slack?: string
  readonly webhook?: string
  readonly secret?: string
  readonly command?: string
  readonly site?: string
}

/** `watch add <name>`: adds or replaces a rule. */
export async function watchAdd(context: Context, flags: WatchFlags, name: string): Promise<void> {
  const { event, guild, territory, player, item, quietHours: quiet } = flags
  const file = watchFileOf(context.app.config)
  const before = readWatches(file)
  const given = {
    ...{ name, events: event ?? [], guild, territory, player, item, quiet, atLeast: atLeastOf(flags) },
    ...groupedWithin(flags),
    target: await targetOf(flags),
  }
  if (given.events.length === 0) throw new UsageError('name what the watch is about: --event captured')
  const others = before.watches.filter((one) => one.name !== name)
  const site = flags.site ?? before.site
  // Checked as the file is, with the same words; undefined fields are not there.
  const content = parseWatches(
    'the command',
    JSON.parse(JSON.stringify({ ...before, site, watches: [...others, given] })),
  )
  const added = content.watches.find((one) => one.name === name)
  if (added) await checkNames(context, added)
  writeWatches(file, content)
  shown(context, content, `${others.length < before.watches.length ? 'replaced' : 'added'} ${name} in ${file}\n`)
}

export async function watchList(context: Context): Promise<void> {
  const content = readWatches(watchFileOf(context.app.config))
  const rows = listed(content).map(({ events, target, name, ...filters }) => ({
    ...{ name, events: events.join(', '), target },
    only: Object.entries(filters)
      .map(([filter, value]) => `${filter}: ${Array.isArray(value) ? value.join(', ') : value}`)
      .join('; '),
  }))
  const table = formatTable(['name', 'events', 'only', 'target'], rows, { width: tableWidth(context), wraps: true })
  const none = 'no watches; add one: wynnsync watch add mine --event captured --discord https://...\n'
  writeResult(context, documentOf(context, content), rows.length > 0 ? table : none, boldFirstLine)
}

/** `watch test <name>`: sends a message that says that it is a test. @throws FatalError when it was refused */
export async function watchTest(context: Context, _flags: WatchFlags, name: string): Promise<void> {
  const { clock, config } = context.app
  const content = readWatches(watchFileOf(config))
  const { target } = watchNamed(content, name)
  const at = new Date(clock.now())
  const test: Occurrence = { event: 'news', number: 0, writtenAt: at, at, text: 'A test of this watch', path: '/' }
  const message = { id: `test_${at.getTime()}`, watch: name, occurrences: [test], site: content.site }
  const http = openHttp(config)
  const sent = sendMessage(target, message, { clock, signal: context.signal, http })
  const { failure } = await sent.finally(() => http.close())
  if (failure !== null) throw new FatalError(`the ${targetText(target)} did not take the message: ${failure}`)
  shown(context, content, `sent to the ${targetText(target)}\n`)
}

/** `watch remove <name>`: asks, and removes a rule. */
export async function watchRemove(context: Context, flags: ConsentFlags, name: string): Promise<void> {
  const file = watchFileOf(context.app.config)
  const before = readWatches(file)
  const removed = watchNamed(before, name)
  const content = { ...before, watches: before.watches.filter((one) => one !== removed) }
  const about = `${name}, which sends ${removed.events.join(', ')} to a ${targetText(removed.target)}`
  if (flags.dryRun) return shown(context, before, `would remove ${about}; nothing was changed\n`)
  await consent(context, flags, { command: 'watch remove', question: `Remove the watch ${visibleLine(about)}?` })
  writeWatches(file, content)
  shown(context, content, `removed ${name} from ${file}\n`)
}

/** Checks the names in the filters of a watch, where there is a database to know them. @throws UsageError for a name that nothing can have */
async function checkNames({ app }: Context, watch: Watch): Promise<void> {
  const { databaseUrl, dataDir } = app.config
  const hasNames = watch.guild ?? watch.player ?? watch.territory ?? watch.item
  if (!hasNames || (databaseUrl === undefined && !existsSync(join(dataDir, 'postgres')))) return
  let unmatched: readonly UnmatchedName[]
  try {
    const db = await openDatabase(app, ['watch add'], { waitMs: 2000, isBrief: true, creates: false, shares: 'reads' })
    unmatched = await unmatchedNames(db, [watch]).finally(() => db.close())
  } catch (error) {
    app.log.warn({}, `the names are not checked: ${messageOf(error)}`)
    return
  }
  const wrong = unmatched.filter(({ isWrong }) => isWrong)
  if (wrong.length > 0) throw new UsageError(wrong.map(({ text }) => text).join('\n'))
  for (const { text } of unmatched) app.log.warn({}, `${text}; nothing is sent about it until there is one`)
}

function shown(context: Context, content: WatchFile, text: string): void {
  writeSummary(context, documentOf(context, content), text)
}

function documentOf({ app }: Context, content: WatchFile) {
  return { file: watchFileOf(app.config), watches: listed(content) }
}

function listed({ watches }: WatchFile) {
  return watches.map(({ target, atLeast, ...rest }) => ({
    ...rest,
    ...(atLeast ? { atLeast: `${atLeast.events} in ${atLeast.minutes} minutes` } : {}),
    target: targetText(target),
  }))
}

function watchNamed({ watches }: WatchFile, name: string): Watch {
  const found = watches.find((one) => one.name === name)
  if (found) return found
  const known = watches.length === 0 ? 'there are none' : `there are: ${watches.map((one) => one.name).join(', ')}`
  throw new UsageError(`watch not found: ${name}; ${known}`)
}

function groupedWithin({ collect, group }: WatchFlags) {
  if (collect !== undefined) return { groupSeconds: durationFlag('--collect', collect) / 1000 }
  return group === undefined ? {} : { groupSeconds: wholeNumber('--group', group) }
}

/** `5/10`: five events in ten minutes. */
function atLeastOf({ atLeast }: WatchFlags) {
  if (atLeast === undefined) return undefined
  const [, events, minutes] = /^(\d{1,4})\/(\d{1,4})$/.exec(atLeast) ?? []
  if (events === undefined) throw new UsageError(`--at-least must be events and minutes such as 5/10, got ${atLeast}`)
  return { events: Number(events), minutes: Number(minutes) }
}

/** The only target that the flags name; `-` is what stdin has. */
async function targetOf({ discord, slack, webhook, secret, command }: WatchFlags) {
  const given = Object.entries({ discord, slack, webhook, command }).filter(([, value]) => value !== undefined)
  const [first] = given
  if (!first || given.length > 1) throw new UsageError('give one of --discord, --slack, --webhook and --command')
  const [type, value = ''] = first
  if (secret !== undefined && type !== 'webhook') throw new UsageError('--secret signs what is sent to --webhook')
  const place = value === '-' ? (await textOf(process.stdin)).trim() : value
  return type === 'command' ? { type, command: place } : { type, url: place, secret }
}
