import { fieldsOf, isFields } from '../form/unknown.ts'

/** What was counted in a body of records that were removed from it later, because a player hides them. */
export interface RedactedCounts {
  /** Players of the list of who is online, by world; the empty name stands for those without one. */
  readonly worlds: Readonly<Record<string, number>>
  /** Members of a guild: all, those who were online, and those who hid whether they are. */
  readonly members: number
  readonly online: number
  readonly hidden: number
}

/** Where an archived body holds them. The API does not send it; if it ever does, it is not archived. */
export const redactedField = 'wynnsync.redacted'

/** Where a body that is read from the archive holds them: nothing that comes as JSON can. */
const counts: unique symbol = Symbol('redacted counts')

const none: RedactedCounts = { worlds: {}, members: 0, online: 0, hidden: 0 }

/** Says of an archived body that something was removed from it, and adds to what it says of removed records, in place. */
export function addRedacted(body: object, more: Partial<RedactedCounts>): void {
  const before = countsFrom(Reflect.get(body, redactedField))
  // A world may have any name, also that of a field that objects have.
  const sums = new Map(Object.entries(before.worlds))
  for (const [world, number] of Object.entries(more.worlds ?? {})) sums.set(world, (sums.get(world) ?? 0) + number)
  const worlds = Object.fromEntries(sums)
  const sum = (name: 'members' | 'online' | 'hidden') => before[name] + (more[name] ?? 0)
  Reflect.set(body, redactedField, { worlds, members: sum('members'), online: sum('online'), hidden: sum('hidden') })
}

/** Makes what an archived body says of its removed records readable by `redactedIn`, and returns the body. */
export function revealRedacted(body: unknown): unknown {
  if (!isFields(body) || !Object.hasOwn(body, redactedField)) return body
  const { [redactedField]: found, ...rest } = body
  return { ...rest, [counts]: countsFrom(found) }
}

/** Whether something was removed from a body, which it does not lack for that. */
export function isRedacted(body: unknown): boolean {
  return isFields(body) && counts in body
}

/** What was counted of records that were removed from a body; nothing in one that the API sent. */
export function redactedIn(body: unknown): RedactedCounts {
  return isFields(body) && counts in body ? (body[counts] as RedactedCounts) : none
}

/** Whether a text may hold the field: then `dropRedacted` must see it before it is archived. No list has one, and some have megabytes. */
export function mayHoldRedacted(text: Uint8Array): boolean {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength)
  return bytes[0] !== OPEN_LIST && bytes.includes(redactedField)
}

const OPEN_LIST = '['.charCodeAt(0)

/** Removes the field from a body that the API sent, in place; true when it was there. */
export function dropRedacted(body: unknown): boolean {
  return isFields(body) && Object.hasOwn(body, redactedField) && delete body[redactedField]
}

function countsFrom(value: unknown): RedactedCounts {
  const found = Object.fromEntries(fieldsOf(value))
  const numberOf = (one: unknown) => (typeof one === 'number' ? one : 0)
  return {
    worlds: Object.fromEntries(fieldsOf(found.worlds).map(([world, number]) => [world, numberOf(number)])),
    members: numberOf(found.members),
    online: numberOf(found.online),
    hidden: numberOf(found.hidden),
  }
}
