import { parseJson } from '../../../api/schemas/form/bodies.ts'
import { isFields } from '../../../api/schemas/form/unknown.ts'
import type { Random } from '../../../base/clock.ts'
import { type Fault, type Occasion, type Outgoing, withBody } from '../fault.ts'

/** A JSON object, free to be changed: it was parsed for this one response. */
export type Fields = Record<string, unknown>

/** The value as an object, or undefined when it is none. */
export function fieldsIn(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined
}

/** The objects among the values of a list or a map. */
export function objectsIn(value: unknown): Fields[] {
  return typeof value === 'object' && value !== null ? Object.values(value).filter(isFields) : []
}

/**
 * A response whose JSON was changed.
 * @param change changes the body in place, or returns another; false when there was nothing to change
 */
export function rewritten(answer: Outgoing, change: (body: object) => object | boolean): Outgoing | undefined {
  if (answer.status !== 200) return undefined
  const body = parseJson(new TextDecoder().decode(answer.body))
  if (typeof body !== 'object' || body === null) return undefined
  const changed = change(body)
  if (changed === false) return undefined
  return withBody(answer, JSON.stringify(changed === true ? body : changed))
}

/** A fault that changes the JSON of good responses, as `rewritten` does. */
export function jsonFault({
  edit,
  ...fault
}: Omit<Fault, 'spoil'> & { readonly edit: (body: object, occasion: Occasion) => object | boolean }): Fault {
  return { ...fault, spoil: (answer, occasion) => rewritten(answer, (body) => edit(body, occasion)) }
}

/** The first of a list, and each of the others with a probability of `share`. */
export function someOf<T>(list: readonly T[], share: number, random: Random): T[] {
  return list.filter((_, nth) => nth === 0 || random() < share)
}

/** The records that a route's body holds, of the kinds that are synced. */
export function recordsIn(path: string, body: object): Fields[] {
  if (path === '/item/database' || path === '/item/recipe/database') {
    return objectsIn('results' in body ? body.results : body)
  }
  if (/^\/(item\/sets|guild\/list\/(territory|guild)|guild\/seasons)$/.test(path)) return objectsIn(body)
  if (path === '/item/metadata') return objectsIn([fieldsIn(body)?.filters ?? body])
  return isProfile(path) ? objectsIn([body]) : []
}

export function isProfile(path: string): boolean {
  return isGuild(path) || /^\/player\/[^/]+$/.test(path)
}

export function isGuild(path: string): boolean {
  return /^\/guild\/(?!list\/|seasons$)/.test(path)
}

/** The members in a guild's body: under which rank, keyed by what, and the record. */
export function membersIn(body: object): { rank: Fields; key: string; record: Fields }[] {
  const members = 'members' in body ? body.members : undefined
  return objectsIn(members).flatMap((rank) =>
    Object.entries(rank).flatMap(([key, record]) => (isFields(record) ? [{ rank, key, record }] : [])),
  )
}

/** The records of a body, and the members of a guild. */
export function spoilable(path: string, body: object): Fields[] {
  const members = isGuild(path) ? membersIn(body).map(({ record }) => record) : []
  return [...recordsIn(path, body), ...members]
}
