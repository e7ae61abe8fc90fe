import type { Argument } from '../../../analytics/questions.ts'
import { UsageError } from '../../../app/errors.ts'
import type { Sql } from '../../../db/database.ts'
import { guildsCalled, guildsLike } from '../../../resources/guilds/keys.ts'
import { playersCalled, playersLike } from '../../../resources/players/keys.ts'
import type { NameHolder } from '../../../sync/resource.ts'
import { formatTable } from '../../output/table.ts'

interface Finder {
  readonly what: string
  readonly called: (sql: Sql, name: string) => Promise<NameHolder[]>
  readonly like: (sql: Sql, name: string) => Promise<string[]>
}

const guilds: Finder = { what: 'guild', called: guildsCalled, like: guildsLike }
const players: Finder = { what: 'player', called: playersCalled, like: playersLike }

const UUID = /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i

/**
 * The argument of a guild or a player with its name resolved to a uuid, from the database alone. Others stay as they are.
 * @throws UsageError when the name has no holder, now or in the past, or several
 */
export async function resolveName(sql: Sql, argument: Argument): Promise<Argument> {
  const finder = finderOf(argument)
  if (!finder || UUID.test(argument.value)) return argument
  const { what, called, like } = finder
  const holders = await called(sql, argument.value)
  const uuids = [...new Set(holders.map(({ uuid }) => uuid))]
  if (uuids.length > 1) {
    const columns = ['uuid', 'name', ...(what === 'guild' ? ['prefix'] : []), 'since', 'until']
    const table = formatTable(columns, holders)
    throw new UsageError(`several ${what}s have or had the name ${argument.value}; use a uuid:\n${table}`.trimEnd())
  }
  const [value] = uuids
  if (value !== undefined) return { ...argument, value }
  const close = await like(sql, argument.value)
  const advice = close.length > 0 ? `; there are: ${close.join(', ')}` : ''
  throw new UsageError(`${what} not found: ${argument.value}${advice}`)
}

/** By the name of the argument or column. */
function finderOf({ name, type }: Argument): Finder | undefined {
  if (type !== 'uuid') return undefined
  if (/(^|_)guild(_uuid)?$/.test(name)) return guilds
  return /(^|_)player(_uuid)?$/.test(name) ? players : undefined
}
