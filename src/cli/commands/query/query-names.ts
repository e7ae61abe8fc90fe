import { isCurrent } from '../../../analytics/catalogue.ts'
import { type Argument, nameColumn, type Question } from '../../../analytics/questions.ts'
import { UsageError } from '../../../app/errors.ts'
import { didYouMean, nearest } from '../../../app/text/nearest.ts'
import type { Sql } from '../../../db/database.ts'
import { exactNames, keyNames } from '../../../resources/key-names.ts'
import { formatTable } from '../../output/table.ts'

const UUID = /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i

/**
 * The argument with a name of a guild or player resolved to its uuid, from the database alone. Others stay as they are.
 * @throws UsageError when the name has no holder, now or in the past, or several
 */
export async function resolveName(sql: Sql, argument: Argument): Promise<Argument> {
  await checkExact(sql, argument)
  const what = keyOf(argument)
  const names = what === undefined ? undefined : keyNames[what]
  if (!names || UUID.test(argument.value)) return argument
  const holders = await names.holders(sql, argument.value)
  const uuids = [...new Set(holders.map(({ uuid }) => uuid))]
  if (uuids.length > 1) {
    const hasPrefix = holders.some(({ prefix }) => prefix !== null)
    const table = formatTable(['uuid', 'name', ...(hasPrefix ? ['prefix'] : []), 'since', 'until'], holders)
    throw new UsageError(`several ${what}s have or had the name ${argument.value}; use a uuid:\n${table}`.trimEnd())
  }
  const [value] = uuids
  if (value !== undefined) return { ...argument, value }
  throw new UsageError(`${what} not found: ${argument.value}${didYouMean(await names.similar(sql, argument.value))}`)
}

/** @throws UsageError for the name of a territory or such that there never was */
async function checkExact(sql: Sql, { name, type, value }: Argument): Promise<void> {
  const known = type === 'text' ? await exactNames[name]?.(sql) : undefined
  if (known && !known.includes(value))
    throw new UsageError(`${name} not found: ${value}${didYouMean(nearest(value, known))}`)
}

/**
 * Whether a view of current things has the name at all, of which no row came.
 * @throws UsageError when it has not
 */
export async function checkNamed(sql: Sql, question: Question, given: readonly Argument[]): Promise<void> {
  const column = nameColumn(question)
  const named = given.find(({ name, type }) => name === column?.name && type === 'text')
  if (!named || !isCurrent(question)) return
  const rows = await sql.query<{ name: string }>(
    `select distinct ${named.name} as name from analytics.${question.name} where ${named.name} is not null`,
  )
  const known = rows.map(({ name }) => name)
  if (!known.includes(named.value))
    throw new UsageError(`${question.name} not found: ${named.value}${didYouMean(nearest(named.value, known))}`)
}

/** `guild` of an argument or column that is called `guild`, `guild_uuid` or `to_guild`; undefined for other types. */
function keyOf({ name, type }: Argument): string | undefined {
  return type === 'uuid' ? /(?:^|_)([a-z]+?)(?:_uuid)?$/.exec(name)?.[1] : undefined
}
