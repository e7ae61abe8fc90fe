import type { Argument } from '../../../analytics/questions.ts'
import { UsageError } from '../../../app/errors.ts'
import type { Sql } from '../../../db/database.ts'
import { keyNames } from '../../../resources/key-names.ts'
import { formatTable } from '../../output/table.ts'

const UUID = /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i

/**
 * The argument with a name of a guild or player resolved to its uuid, from the database alone. Others stay as they are.
 * @throws UsageError when the name has no holder, now or in the past, or several
 */
export async function resolveName(sql: Sql, argument: Argument): Promise<Argument> {
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
  const similar = await names.similar(sql, argument.value)
  const advice = similar.length > 0 ? `; there are: ${similar.join(', ')}` : ''
  throw new UsageError(`${what} not found: ${argument.value}${advice}`)
}

/** `guild` of an argument or column that is called `guild`, `guild_uuid` or `to_guild`; undefined for other types. */
function keyOf({ name, type }: Argument): string | undefined {
  return type === 'uuid' ? /(?:^|_)([a-z]+?)(?:_uuid)?$/.exec(name)?.[1] : undefined
}
