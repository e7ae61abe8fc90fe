import { and, eq, or, sql as text } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import type { Person } from './personal.ts'
import { privacyRestriction } from './tables.ts'

/** A rule in force: which fields of whom, and which responses set it. */
export interface Restriction {
  readonly player: string
  readonly group: string
  readonly setBy: string
}

/** The resource and key whose responses set a rule. */
type Source = { readonly resource: string; readonly key: string }

const { playerUuid, fieldGroup, toldBy } = privacyRestriction

/** The rules about these people, and those that the source set about anyone. */
export async function restrictionsOf(sql: Sql, people: readonly Person[], source: Source): Promise<Restriction[]> {
  const uuids = people.map((person) => person.playerUuid)
  return await typed(sql)
    .select({ player: playerUuid, group: fieldGroup, setBy: toldBy })
    .from(privacyRestriction)
    .where(or(anyOf(playerUuid, uuids), eq(toldBy, nameOf(source))))
}

/** Whether responses about a player's own key restrict all of these groups already. */
export async function areRestricted(sql: Sql, source: Source, groups: readonly string[]): Promise<boolean> {
  const isSource = and(eq(text`${playerUuid}::text`, source.key), eq(toldBy, nameOf(source)))
  return (await typed(sql).$count(privacyRestriction, and(isSource, anyOf(fieldGroup, groups)))) === groups.length
}

/** Those that the source itself set. */
export function ownOf(restrictions: readonly Restriction[], source: Source): Restriction[] {
  return restrictions.filter(({ setBy }) => setBy === nameOf(source))
}

/** What is restricted, of whom, that is not among these. */
export function notYet(
  known: readonly Restriction[],
  people: readonly Person[],
): (Person & { readonly group: string })[] {
  const restricted = new Set(known.map(({ player, group }) => `${player} ${group}`))
  return people.flatMap((person) =>
    person.restricted
      .filter((group) => !restricted.has(`${person.playerUuid} ${group}`))
      .map((group) => ({ ...person, group })),
  )
}

/** How `sync.privacy_restriction` names a source. */
export function nameOf({ resource, key }: Source): string {
  return `${resource}/${key}`
}
