import { UsageError } from '../../base/errors.ts'
import { didYouMean, nearest, plainSpelling } from '../../base/text/nearest.ts'
import type { Sql } from '../../db/database.ts'
import { isCurrent } from '../catalogue.ts'
import { type Argument, nameColumn, type Question } from '../questions.ts'
import type { Filter } from './filters.ts'

/** Something that has or had a name, and from when to when. */
export interface Holder {
  readonly uuid: string
  /** Null where only the uuid is known. */
  readonly name: string | null
  /** Of a guild. */
  readonly prefix: string | null
  readonly since: Date
  /** Null while it has the name. */
  readonly until: Date | null
}

/** How uuids are found by name, from the database alone. */
interface NameFinder {
  holders(sql: Sql, name: string): Promise<readonly Holder[]>
  /** Names that are like the given one; three at most. */
  similar(sql: Sql, name: string): Promise<readonly string[]>
}

export interface NameFinders {
  /** By what an argument is about: `guild`, `player`. */
  readonly keys: Readonly<Record<string, NameFinder>>
  /** All names of what is identified by its exact name, by what arguments are called: `territory`. */
  readonly exact: Readonly<Record<string, (sql: Sql) => Promise<readonly string[]>>>
}

/** A name that several have or had. */
export class AmbiguousName extends UsageError {
  readonly holders: readonly Holder[]

  constructor(what: string, name: string, holders: readonly Holder[]) {
    super(`several ${what}s have or had the name ${name}; use a uuid`)
    this.holders = holders
  }
}

/** A name that nothing has or had. */
export class UnknownName extends UsageError {
  readonly similar: readonly string[]

  constructor(what: string, name: string, similar: readonly string[]) {
    super(`${what} not found: ${name}${didYouMean(similar)}`)
    this.similar = similar
  }
}

const UUID = /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i

/**
 * The argument with a name of a guild or player resolved to its uuid. Others stay as they are.
 * @throws AmbiguousName; UnknownName, also of a territory or such that there never was
 */
export async function resolveName(sql: Sql, argument: Argument, { keys, exact }: NameFinders): Promise<Argument> {
  const known = await exactName(sql, argument, exact)
  if (known !== undefined) return { ...argument, value: known }
  const what = keyOf(argument)
  const finder = what === undefined ? undefined : keys[what]
  if (what === undefined || !finder || UUID.test(argument.value)) return argument
  const called = await finder.holders(sql, argument.value)
  const similar = called.length > 0 ? [] : await finder.similar(sql, argument.value)
  const holders = called.length > 0 ? called : await holdersOf(sql, finder, spelledSo(argument.value, similar))
  const [value, ...others] = new Set(holders.map(({ uuid }) => uuid))
  if (others.length > 0) throw new AmbiguousName(what, argument.value, holders)
  if (value !== undefined) return { ...argument, value }
  throw new UnknownName(what, argument.value, similar)
}

async function holdersOf(sql: Sql, finder: NameFinder, names: readonly string[]) {
  return (await Promise.all(names.map((name) => finder.holders(sql, name)))).flat()
}

/** Names that look the same as this one: with other spaces, or other forms of the same letters. @param similar such as `Name [PREFIX]` */
function spelledSo(name: string, similar: readonly string[]): string[] {
  const plain = plainSpelling(name)
  const texts = similar.flatMap((label) => [label, ...(/^(.*) \[([^\]]*)\]$/.exec(label)?.slice(1) ?? [])])
  return [...new Set([plain, ...texts])].filter((one) => plain !== '' && one !== name && plainSpelling(one) === plain)
}

/** The name of what is identified by its exact name, also where it is written with other spaces or forms of its letters; undefined of other things. */
async function exactName(sql: Sql, { name, type, value }: Argument, exact: NameFinders['exact']) {
  const known = type === 'text' ? await exact[name]?.(sql) : undefined
  if (!known || known.includes(value)) return known && value
  const [only, ...others] = known.filter((one) => plainSpelling(one) === plainSpelling(value))
  if (only === undefined || others.length > 0) throw new UnknownName(name, value, nearest(value, known))
  return only
}

/**
 * Whether a view of current things has the name at all, of which no row came.
 * @throws UnknownName when it has not
 */
export async function checkNamed(sql: Sql, question: Question, filters: readonly Filter[]): Promise<void> {
  const column = nameColumn(question)
  const named = filters.find(({ name, type, operator, isNegated }) => {
    return name === column?.name && type === 'text' && operator === 'eq' && !isNegated
  })
  if (!named || !isCurrent(question)) return
  const [wanted = ''] = named.values
  const rows = await sql.query<{ name: string }>(
    `select distinct ${named.name} as name from analytics.${question.name} where ${named.name} is not null`,
  )
  const known = rows.map(({ name }) => name)
  if (!known.includes(wanted)) throw new UnknownName(question.name, wanted, nearest(wanted, known))
}

/** `guild` of an argument or column that is called `guild`, `guild_uuid` or `to_guild`; undefined for other types. */
function keyOf({ name, type }: Argument): string | undefined {
  return type === 'uuid' ? /(?:^|_)([a-z]+?)(?:_uuid)?$/.exec(name)?.[1] : undefined
}
