import { eq, or } from 'drizzle-orm'
import type { Sql } from '../../../db/database.ts'
import { anyOf, typed } from '../../../db/typed.ts'
import type { Person, Personal } from '../../declare/personal.ts'
import { privacyRestriction } from '../../tables/privacy.ts'
import { nameOf } from './rule-source.ts'

/** A rule in force: which fields of whom, and which responses set it. */
export interface Restriction {
  readonly player: string
  readonly group: string
  readonly setBy: string
  readonly since: Date
  /** Whether further responses must repeat it before anything is removed. */
  readonly isPending: boolean
  readonly isHeld: boolean
  readonly isRefusal: boolean
  /** What the response that set it was requested with. */
  readonly credential: string | null
  readonly needsCredential: string | null
}

/** The resource and key whose responses set a rule. */
type Source = { readonly resource: string; readonly key: string }

const { playerUuid, fieldGroup, toldBy, since, isPending, isHeld, isRefusal, credential, needsCredential } =
  privacyRestriction
const ofRestriction = { since, isPending, isHeld, isRefusal, credential, needsCredential }

/** The rules about these people, and those that the source set about anyone. */
export async function restrictionsOf(sql: Sql, people: readonly Person[], source: Source): Promise<Restriction[]> {
  const uuids = people.map((person) => person.playerUuid)
  return await typed(sql)
    .select({ player: playerUuid, group: fieldGroup, setBy: toldBy, ...ofRestriction })
    .from(privacyRestriction)
    .where(or(anyOf(playerUuid, uuids), eq(toldBy, nameOf(source))))
}

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

/** What a response says of a restriction, as a claim. */
export function claimAbout({ player, group, setBy }: Pick<Restriction, 'player' | 'group' | 'setBy'>) {
  return { subject: `${setBy.slice(setBy.indexOf('/') + 1)}/${player}`, value: group }
}

/** Those of the restrictions that claims are about. */
export function amongClaims(
  restrictions: readonly Restriction[],
  claims: readonly { readonly subject: string; readonly value: string }[],
): Restriction[] {
  const about = new Set(claims.map(({ subject, value }) => `${subject} ${value}`))
  return restrictions.filter((one) => {
    const { subject, value } = claimAbout(one)
    return about.has(`${subject} ${value}`)
  })
}

/** The resource of claims about restrictions that responses of a resource set. */
export function claimsOf(resource: string): string {
  return `${resource}/restrictions`
}

/** Makes the next responses about these players be loaded even if they are unchanged: what they said is not kept any more. */
export async function reloadAbout(sql: Sql, personal: Personal, uuids: readonly string[]): Promise<void> {
  await sql.query(
    // Those that are locked are being requested right now.
    `with asked as (
       select item.resource, item.key from sync.work_item item
         join (select about.resource, about.key from unnest($1::uuid[]) as who(player_uuid)
                cross join lateral (${personal.answersAbout}) about(resource, key)) about using (resource, key)
          for update of item skip locked)
     update sync.work_item item set reload = true from asked
      where item.resource = asked.resource and item.key = asked.key`,
    [uuids],
  )
}
