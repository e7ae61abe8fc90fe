import { didYouMean, nearest } from '../base/text/nearest.ts'
import type { Sql } from '../db/database.ts'
import { nameFinders } from '../resources/key-names.ts'
import { filtersOf } from './watches/occurrences.ts'
import type { Watch } from './watches/watch.ts'

/** A name in a filter that nothing has. */
interface UnmatchedName {
  readonly watch: string
  /** `guild not found: NOSUCHGUILD; did you mean ...?` */
  readonly text: string
  /** Whether all of its kind are known: guilds and territories are listed, players and items may yet come. */
  readonly isWrong: boolean
}

type Kind = 'guild' | 'player' | 'territory' | 'item'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The names in the filters of watches that nothing in the database matches, as messages are filtered. */
export async function unmatchedNames(sql: Sql, watches: readonly Watch[]): Promise<UnmatchedName[]> {
  const unmatched: UnmatchedName[] = []
  for (const watch of watches) {
    const { kind: counted, name } = watch.counter ?? {}
    const counters = counted === undefined ? [] : await countersOf(sql, counted)
    if (name !== undefined && !counters.includes(name)) {
      const text = `counter of kind ${counted} not found: ${name}${didYouMean(nearest(name, counters))}`
      unmatched.push({ watch: watch.name, text, isWrong: false })
    }
    for (const kind of ['guild', 'player', 'territory', 'item'] as const)
      for (const name of watch[kind] ?? []) {
        if (await isMatched(sql, kind, name)) continue
        const text = `${kind} not found: ${name}${didYouMean(await similarTo(sql, kind, name))}`
        unmatched.push({ watch: watch.name, text, isWrong: await isListed(sql, kind) })
      }
  }
  return unmatched
}

async function isMatched(sql: Sql, kind: Kind, name: string): Promise<boolean> {
  if (kind === 'territory') return (await territoriesIn(sql)).includes(name)
  if (kind === 'item') return (await itemsIn(sql)).includes(name)
  // A uuid is right whatever is known.
  if (UUID.test(name)) return true
  const { guilds = [], players = [] } = await filtersOf(sql, { [kind]: [name] })
  // The name itself is one of them.
  return (kind === 'guild' ? guilds : players).length > 1
}

async function similarTo(sql: Sql, kind: Kind, name: string): Promise<readonly string[]> {
  if (kind === 'guild' || kind === 'player') return await nameFinders.keys[kind].similar(sql, name)
  return nearest(name, await (kind === 'territory' ? territoriesIn(sql) : itemsIn(sql)))
}

/** Whether the database knows others of a kind that is listed as a whole. */
async function isListed(sql: Sql, kind: Kind): Promise<boolean> {
  if (kind === 'territory') return (await territoriesIn(sql)).length > 0
  if (kind !== 'guild') return false
  const [row] = await sql.query<{ isListed: boolean }>(
    `select exists (select from game.guild_listing) or exists (select from game.guild) as "isListed"`,
  )
  return row?.isListed === true
}

async function territoriesIn(sql: Sql): Promise<readonly string[]> {
  return await nameFinders.exact.territory(sql)
}

/** Both names of every item, as the API and as players spell them, and rewards of pools. */
async function itemsIn(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `select internal_name as name from game.item where valid_until = 'infinity'
     union select display_name from game.item where valid_until = 'infinity' and display_name is not null
     union select reward from game.loot_pool_reward where reward is not null`,
  )
  return rows.map(({ name }) => name)
}

/** What is counted of a kind. */
async function countersOf(sql: Sql, kind: string): Promise<string[]> {
  const rows = await sql.query<{ counter: string }>('select counter from analytics.counter where kind = $1', [kind])
  return rows.map(({ counter }) => counter)
}
