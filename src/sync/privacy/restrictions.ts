import type { Sql } from '../../db/database.ts'
import type { Person } from './personal.ts'

/** A rule in force: which fields of whom, and which responses said so. */
export interface Restriction {
  readonly player: string
  readonly group: string
  readonly teller: string
}

/** The resource and key whose responses make a rule. */
type Source = { readonly resource: string; readonly key: string }

/** The rules about these people, and those that the source made about anyone. */
export async function restrictionsOf(sql: Sql, people: readonly Person[], source: Source): Promise<Restriction[]> {
  return await sql.query<Restriction>(
    `select player_uuid::text as player, field_group as "group", told_by as teller from sync.privacy_restriction
      where player_uuid = any($1::uuid[]) or told_by = $2`,
    [people.map((one) => one.playerUuid), nameOf(source)],
  )
}

/** Those that the source itself made. */
export function ownOf(restrictions: readonly Restriction[], source: Source): Restriction[] {
  return restrictions.filter((one) => one.teller === nameOf(source))
}

/** What is restricted, of whom, that is not among these. */
export function notYet(
  known: readonly Restriction[],
  people: readonly Person[],
): (Person & { readonly group: string })[] {
  const told = new Set(known.map(({ player, group }) => `${player} ${group}`))
  return people.flatMap((one) =>
    one.restricted.filter((group) => !told.has(`${one.playerUuid} ${group}`)).map((group) => ({ ...one, group })),
  )
}

/** How `sync.privacy_restriction` names a source. */
export function nameOf({ resource, key }: Source): string {
  return `${resource}/${key}`
}
