import { existsSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { watchFileOf } from '../../../base/config.ts'
import { FatalError, UsageError } from '../../../base/errors.ts'
import { openHttp } from '../../../base/http.ts'
import { wholeNumber } from '../../../base/settings.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import { NothingThere } from '../../../db/connect.ts'
import type { Database, Sql } from '../../../db/database.ts'
import { unmatchedNames } from '../../../monitoring/watch-names.ts'
import { isNews, mostChanges } from '../../../monitoring/watches/delivery-state.ts'
import type { Occurrence } from '../../../monitoring/watches/event-queries.ts'
import { readOccurrences, sourcesOf } from '../../../monitoring/watches/occurrences.ts'
import { sendMessage, targetText } from '../../../monitoring/watches/send.ts'
import { parseWatches, type Watch } from '../../../monitoring/watches/watch.ts'
import {
  readWatches,
  readWatchFile,
  removeWatch,
  type StoredWatches,
  saveWatch,
  takeOverWatches,
} from '../../../monitoring/watches/watch-store.ts'
import { type ConsentFlags, consent } from '../../ask.ts'
import { type Context, tableWidth, withDatabase, writeResult, writeSummary } from '../../context.ts'
import { durationFlag } from '../../options.ts'
import { boldFirstLine, formatTable } from '../../output/table.ts'

interface WatchFlags {
  readonly event?: readonly string[]
  readonly guild?: readonly string[]
  readonly territory?: readonly string[]
  readonly player?: readonly string[]
  readonly item?: readonly string[]
  readonly worldEvent?: readonly string[]
  /** Kind and name. */
  readonly counter?: string
  readonly above?: string
  readonly gains?: string
  readonly top?: string
  readonly each?: string
  readonly gap?: string
  readonly before?: string
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
  const { event, guild, territory, player, item, worldEvent, site, quietHours: quiet } = flags
  const given = {
    name,
    events: event ?? [],
    guild,
    territory,
    player,
    item,
    worldEvent,
    quiet,
    atLeast: atLeastOf(flags),
    counter: counterOf(flags),
    gap: flags.gap === undefined ? undefined : wholeNumber('--gap', flags.gap),
    ...(flags.before === undefined ? {} : { before: durationFlag('--before', flags.before) / 60_000 }),
    ...groupedWithin(flags),
    target: await targetOf(flags),
  }
  if (given.events.length === 0) throw new UsageError('name what the watch is about: --event captured')
  // Undefined fields are not there.
  const [watch] = parseWatches('the command', JSON.parse(JSON.stringify({ site, watches: [given] }))).watches
  if (!watch) return
  const add = async (db: Database) => {
    await takeOver(context, db)
    // Beside a sync each statement would wait for it.
    const [before, after] = await db.transaction(async (sql) => {
      const { names } = await readWatches(sql)
      await checkNames(context, sql, watch)
      await saveWatch(sql, watch, site)
      return [names, await readWatches(sql)]
    })
    shown(context, db.place, after, `${before.includes(name) ? 'replaced' : 'added'} ${name} in ${db.place}\n`)
  }
  await withDatabase(context, 'watch add', add, { access: 'create', isShort: true })
}

export async function watchList(context: Context): Promise<void> {
  const { place, content } = await shownIn(context, 'watch list')
  const rows = listed(content).map(({ events, target, name, ...filters }) => ({
    name,
    events: events.join(', '),
    target,
    only: Object.entries(filters)
      .map(([filter, value]) => `${filter}: ${Array.isArray(value) ? value.join(', ') : value}`)
      .join('; '),
  }))
  const table = formatTable(['name', 'events', 'only', 'target'], rows, { width: tableWidth(context), wraps: true })
  const none = 'no watches; add one: wynnsync watch add mine --event captured --discord https://...\n'
  for (const { name, problem } of content.unreadable)
    context.app.log.warn({}, `watch ${name} sends nothing, because this version cannot read it: ${problem}`)
  writeResult(context, documentOf(context, place, content), rows.length > 0 ? table : none, boldFirstLine)
}

/** `watch test <name>`: sends the latest message that the watch has, or that there was nothing, and says that it is a test. @throws FatalError when it was refused */
export async function watchTest(context: Context, _flags: WatchFlags, name: string): Promise<void> {
  const { clock, config } = context.app
  const { place, content } = await shownIn(context, 'watch test')
  const watch = watchNamed(content, name)
  const { target } = watch
  const latest = (await readOnly(context, 'watch test', async (db) => await readLatest(db, watch))) ?? []
  const at = new Date(clock.now())
  const nothing: Occurrence = { event: 'news', number: 0, writtenAt: at, at, text: nothingSent, path: '/' }
  const occurrences = latest.length > 0 ? latest : [nothing]
  const message = { id: `test_${at.getTime()}`, watch: name, isTest: true, occurrences, site: content.site }
  const http = openHttp(config)
  const sent = sendMessage(target, message, { clock, signal: context.signal, http })
  const { failure } = await sent.finally(() => http.close())
  if (failure !== null) throw new FatalError(`the ${targetText(target)} did not take the message: ${failure}`)
  const what = latest[0]
    ? `the latest that it is about, of ${latest[0].at.toISOString()},`
    : 'nothing of it happened in the last day; a message that says so'
  shown(context, place, content, `${what} was sent to the ${targetText(target)}\n`)
}

/** The latest of what a watch sends, and what has the same heading, as far back as changes are kept; empty: there was none. */
async function readLatest(db: Database, watch: Watch): Promise<readonly Occurrence[]> {
  let before = Number.MAX_SAFE_INTEGER
  for (;;) {
    const rows = await db.query<{ number: number }>(
      `select number from sync.outbox where number < $1 and ${isNews('$2')} order by number desc limit ${mostChanges}`,
      [before, sourcesOf(watch.events)],
    )
    const numbers = rows.map(({ number }) => number)
    const found = await readOccurrences(db, watch, numbers)
    const latest = found.at(-1)
    const heading = latest?.detail?.heading
    if (heading !== undefined) return found.filter(({ detail }) => detail?.heading === heading)
    if (latest || numbers.length === 0) return latest ? [latest] : []
    before = Math.min(...numbers)
  }
}

const nothingSent = 'Nothing that this watch is about happened while changes were kept; a message looks like this one'

/** `watch remove <name>`: asks, and removes a rule; also one that this version cannot read. */
export async function watchRemove(context: Context, flags: ConsentFlags, name: string): Promise<void> {
  const { place, content } = await (flags.dryRun ? shownIn : storedIn)(context, 'watch remove')
  const isUnreadable = content.unreadable.some((one) => one.name === name)
  const removed = isUnreadable ? undefined : watchNamed(content, name)
  const about = removed
    ? `${name}, which sends ${removed.events.join(', ')} to a ${targetText(removed.target)}`
    : `${name}, which this version cannot read`
  if (flags.dryRun) return shown(context, place, content, `would remove ${about}; nothing was changed\n`)
  await consent(context, flags, { command: 'watch remove', question: `Remove the watch ${visibleLine(about)}?` })
  const remove = async (db: Database) => {
    const left = await db.transaction(async (sql) => {
      await removeWatch(sql, name)
      return await readWatches(sql)
    })
    shown(context, db.place, left, `removed ${name} from ${db.place}\n`)
  }
  await withDatabase(context, 'watch remove', remove, { access: 'change', isShort: true })
}

interface Shown {
  /** Null where there is no history yet. */
  readonly place: string | null
  readonly content: StoredWatches
}

const read = async (db: Database): Promise<Shown> => ({ place: db.place, content: await readWatches(db) })

/** What a command that changes watches begins with: what earlier versions kept in a file is in the database then. */
async function storedIn(context: Context, holds: string): Promise<Shown> {
  const takeAndRead = async (db: Database) => {
    await takeOver(context, db)
    return await read(db)
  }
  if (existsSync(watchFileOf(context.app.config)))
    return await withDatabase(context, holds, takeAndRead, { access: 'create', isShort: true })
  return (await readOnly(context, holds, read)) ?? nothingThere
}

/** The watches of the database; beside one that has none, those of the file, which stays as it is. */
async function shownIn(context: Context, holds: string): Promise<Shown> {
  const stored = (await readOnly(context, holds, read)) ?? nothingThere
  const file = watchFileOf(context.app.config)
  if (!existsSync(file)) return stored
  if (stored.content.names.length > 0) {
    context.app.log.warn({}, `${file} is not read, because the database has watches`)
    return stored
  }
  const { watches, site } = readWatchFile(file)
  context.app.log.warn({}, `the watches are those of ${file}: the next start or sync takes them over`)
  return { ...stored, content: { watches, site, names: watches.map(({ name }) => name), unreadable: [] } }
}

const nothingThere: Shown = { place: null, content: { watches: [], names: [], unreadable: [] } }

/** Undefined where there is no history yet. */
async function readOnly<T>(
  context: Context,
  holds: string,
  work: (db: Database) => Promise<T>,
): Promise<T | undefined> {
  return await withDatabase(context, holds, work).catch((error: unknown) => {
    if (!(error instanceof NothingThere)) throw error
    return undefined
  })
}

async function takeOver({ app }: Context, db: Database): Promise<void> {
  const taken = await takeOverWatches(db, watchFileOf(app.config))
  if (taken !== undefined) app.log.warn({}, taken)
}

/** Checks the names in the filters of a watch. @throws UsageError for a name that nothing can have */
async function checkNames({ app }: Context, sql: Sql, watch: Watch): Promise<void> {
  const unmatched = await unmatchedNames(sql, [watch])
  const wrong = unmatched.filter(({ isWrong }) => isWrong)
  if (wrong.length > 0) throw new UsageError(wrong.map(({ text }) => text).join('\n'))
  for (const { text } of unmatched) app.log.warn({}, `${text}; nothing is sent about it until there is one`)
}

function shown(context: Context, place: string | null, content: StoredWatches, text: string): void {
  writeSummary(context, documentOf(context, place, content), text)
}

function documentOf({ app }: Context, place: string | null, content: StoredWatches) {
  return { database: place, file: watchFileOf(app.config), watches: listed(content) }
}

function listed({ watches }: StoredWatches) {
  return watches.map(({ target, atLeast, counter, ...rest }) => ({
    ...rest,
    ...(counter ? { counter: counterText(counter) } : {}),
    ...(atLeast ? { atLeast: `${atLeast.events} in ${atLeast.minutes} minutes` } : {}),
    target: targetText(target),
  }))
}

function watchNamed({ names, watches, unreadable }: StoredWatches, name: string): Watch {
  const found = watches.find((one) => one.name === name)
  if (found) return found
  const problem = unreadable.find((one) => one.name === name)?.problem
  if (problem !== undefined) throw new UsageError(`this version cannot read the watch ${name}: ${problem}`)
  const known = names.length === 0 ? 'there are none' : `there are: ${names.join(', ')}`
  throw new UsageError(`watch not found: ${name}; ${known}`)
}

function groupedWithin({ collect, group }: WatchFlags) {
  if (collect !== undefined) return { groupSeconds: durationFlag('--collect', collect) / 1000 }
  return group === undefined ? {} : { groupSeconds: wholeNumber('--group', group) }
}

/** `member contributed`, with one of --above, --gains and --top. */
function counterOf({ counter, above, gains, top, each }: WatchFlags) {
  if (counter === undefined) {
    if ([above, gains, top, each].some((one) => one !== undefined))
      throw new UsageError('--above, --gains, --top and --each need --counter')
    return undefined
  }
  const [, kind, name] = /^(\S+) +(\S.*)$/.exec(counter) ?? []
  if (kind === undefined)
    throw new UsageError(`--counter must be a kind and a name such as 'member contributed', got ${counter}`)
  const numberOf = (flag: string, text: string | undefined) => {
    if (text === undefined) return undefined
    if (!/^\d{1,15}(\.\d+)?$/.test(text)) throw new UsageError(`${flag} must be a number, got ${text}`)
    return Number(text)
  }
  const most = top === undefined ? {} : { top: wholeNumber('--top', top), each: each ?? 'week' }
  return { kind, name, above: numberOf('--above', above), gains: numberOf('--gains', gains), each, ...most }
}

function counterText({ kind, name, above, gains, top, each }: NonNullable<Watch['counter']>): string {
  if (top !== undefined) return `${kind} ${name}, top ${top} of each ${each}`
  return `${kind} ${name} ${above === undefined ? `gains ${gains} in 24 hours` : `above ${above}`}`
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
