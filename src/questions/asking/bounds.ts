import { messageOf } from '../../base/errors.ts'
import { INSTANT } from '../../base/text/instants.ts'
import type { Sql } from '../../db/database.ts'
import { sqlState } from '../../db/sql-errors.ts'
import type { Argument, Question } from '../questions.ts'
import { unreadable, WrongArgument } from './readable.ts'

/** What one question may cost: steps of a period, the first n of a list, arguments, and characters of each. */
export const bounds = { cells: 20_000, first: 1000, arguments: 100, characters: 16_384 } as const

/** The step of questions that go through a period by steps of their own. */
export const ownSteps: Readonly<Record<string, string>> = {
  world_peak: '1 hour',
  guild_online_heatmap: '1 hour',
  coverage: '1 hour',
  player_playtime: '1 day',
}

/**
 * The same arguments, and a period of very many steps cut to what was observed of it. Read API, MCP and `query` check here what they
 * were given, before it costs anything.
 * @throws WrongArgument for one that Postgres cannot read or that is too long, a period that ends before it begins, a step of less
 * than a minute, an instant after now, more than the first 1,000, a counter or entity that there is not, and a period of more than
 * 20,000 steps
 */
export async function boundArguments(
  sql: Sql,
  question: Pick<Question, 'name'>,
  args: readonly Argument[],
): Promise<readonly Argument[]> {
  await checkValues(sql, args)
  const at = args.find(({ name, value }) => name === 'at' && isEndless(value))
  if (at) throw new WrongArgument(`at must be ${INSTANT}, got ${at.value}`, 'at')
  const many = args.find(({ name, type, value }) => name === 'n' && type === 'integer' && Number(value) > bounds.first)
  if (many) throw new WrongArgument(`n must be ${bounds.first} at most, got ${many.value}`, many.name)
  await refuseAfterNow(sql, args)
  await refuseUncounted(sql, args)
  const [from, to, step] = ['from_time', 'to_time', 'step'].map((name) => args.find((one) => one.name === name))
  const length = step?.value ?? ownSteps[question.name]
  if (!from || !to) return args
  const period = await boundPeriod(sql, from.value, to.value, length).catch((error: unknown) => {
    // What checked_step raises.
    throw step && sqlState(error) === '22023' ? new WrongArgument(messageOf(error), step.name) : error
  })
  if (period.cells > bounds.cells) {
    const many = `the period has ${period.cells.toLocaleString('en-US')} steps of ${length}, and ${bounds.cells.toLocaleString('en-US')} are answered`
    throw step
      ? new WrongArgument(`step is too short: ${many}; give a longer one, or a shorter period`, step.name)
      : new WrongArgument(`from_time is too early: ${many}; give a later one`, from.name)
  }
  return args.map((one) => {
    if (one === from) return { ...one, value: period.from }
    return one === to ? { ...one, value: period.to } : one
  })
}

/** @throws WrongArgument for an instant of which nothing can be known yet */
async function refuseAfterNow(sql: Sql, args: readonly Argument[]): Promise<void> {
  const at = args.find(({ name, type }) => name === 'at' && type === 'timestamp with time zone')
  if (!at) return
  await sql.query('select analytics.checked_at($1::text::timestamptz)', [at.value]).catch((error: unknown) => {
    throw sqlState(error) === '22023' ? new WrongArgument(messageOf(error), at.name) : error
  })
}

/** @throws WrongArgument for a counter that there is not, and for an entity that nothing or several things are called */
async function refuseUncounted(sql: Sql, args: readonly Argument[]): Promise<void> {
  const [kind, counter, entity] = ['kind', 'counter', 'entity'].map((one) =>
    args.find(({ name, type }) => name.replace(/_name$/, '') === one && type === 'text'),
  )
  if (!kind || !counter) return
  const check = entity ? 'select from analytics.counted_entity($1, $2, $3)' : 'select analytics.checked_counter($1, $2)'
  const values = [kind, counter, ...(entity ? [entity] : [])].map(({ value }) => value)
  await sql.query(check, values).catch((error: unknown) => {
    if (sqlState(error) !== '22023') throw error
    const message = messageOf(error)
    const wrong = /^kind must/.test(message) ? kind : /^no counter/.test(message) ? counter : (entity ?? counter)
    throw new WrongArgument(message, wrong.name)
  })
}

function isEndless(instant: string): boolean {
  return /^\s*[-+]?infinity\s*$/i.test(instant)
}

/** @throws WrongArgument for what is too long, or what Postgres cannot read; a uuid may still be a name */
export async function checkValues(sql: Sql, args: readonly Argument[]): Promise<void> {
  const long = args.find(({ value }) => value.length > bounds.characters)
  if (long) throw new WrongArgument(`${long.name} is longer than ${bounds.characters} characters`, long.name)
  const typed = args.filter(({ type }) => type !== 'text' && type !== 'uuid')
  if (typed.length === 0) return
  const casts = typed.map(({ type }, index) => `$${index + 1}::text::${type}`)
  const values = typed.map(({ value }) => value)
  await sql
    .query(`select ${casts.map((cast, index) => `${cast} as read_${index}`).join(', ')}`, values)
    .catch((error: unknown) => {
      // Class 22, data exception: nothing but these values is in the statement.
      if (!(error instanceof Error) || !sqlState(error)?.startsWith('22')) throw error
      const wrong = unreadable(typed)
      if (!wrong) throw new WrongArgument(error.message, typed.length === 1 ? typed[0]?.name : undefined)
      throw new WrongArgument(`${wrong.name} must be ${wrong.wanted}, got ${wrong.value}`, wrong.name)
    })
}

interface BoundPeriod {
  /** As Postgres reads it. */
  readonly from: string
  readonly to: string
  /** How many steps it has; 0 without a step. */
  readonly cells: number
}

/**
 * The period as it is, or what was observed of it where it has very many steps or no bound.
 * @throws WrongArgument when it ends before it begins; what Postgres raises for a step of less than a minute
 */
export async function boundPeriod(sql: Sql, from: string, to: string, step: string | undefined): Promise<BoundPeriod> {
  const begins = '$1::text::timestamptz'
  const ends = '$2::text::timestamptz'
  const [order] = await sql.query<{ isReversed: boolean }>(`select ${begins} > ${ends} as "isReversed"`, [from, to])
  if (order?.isReversed)
    throw new WrongArgument(`from_time must not be after to_time: ${from} is after ${to}`, 'from_time')
  if (step === undefined) return { from, to, cells: 0 }
  const [row] = await sql.query<BoundPeriod & { isCut: boolean }>(
    `select to_char(begins at time zone 'UTC', $4) as "from", cells,
            to_char((ends + interval '999 microseconds') at time zone 'UTC', $4) as "to",
            (begins, ends) is distinct from (${begins}, ${ends}) as "isCut"
       from analytics.bounded(${begins}, ${ends}, $3::text::interval)`,
    [from, to, step, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'],
  )
  return row?.isCut ? { from: row.from, to: row.to, cells: row.cells } : { from, to, cells: row?.cells ?? 0 }
}
