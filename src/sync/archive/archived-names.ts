import { redactedField } from '../../api/schemas/people/redacted.ts'
import type { NamedFields } from '../declare/personal.ts'

const replacement = 'removed'

/**
 * Replaces in a body, in place, what contains the player's uuid or is the player's name; true when there was any. A uuid is
 * unmistakable; a name may be a word such as `owner`, and is looked for only among members, players and unknown fields.
 */
export function replaceNames(
  body: unknown,
  { nameless, playerMap, members }: NamedFields,
  playerUuid: string,
  names: readonly string[],
): boolean {
  const uuid = new RegExp(playerUuid.replaceAll('-', '-?'), 'gi')
  const lower = new Set(names.map((name) => name.toLowerCase()))
  let found = false

  function replaced(text: string, isName: boolean): string {
    const other = isName && lower.has(text.toLowerCase()) ? replacement : text.replace(uuid, replacement)
    found ||= other !== text
    return other
  }

  /** @param areNames whether its texts may be names; by default its keys too */
  function visit(value: unknown, areNames: boolean, areKeys = areNames): unknown {
    if (typeof value === 'string') return replaced(value, areNames)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) value[index] = visit(one, areNames)
      return value
    }
    const fields: Record<string, unknown> = Object.assign(value)
    for (const [key, one] of Object.entries(fields)) {
      const field = replaced(key, areKeys)
      if (field !== key) delete fields[key]
      fields[field] = visit(one, areNames)
    }
    return fields
  }

  /** Each field by whether the program knows it; members and players by what they are. */
  function visitRecord(record: unknown, without: ReadonlySet<string>): void {
    if (typeof record !== 'object' || record === null) return
    for (const [field, value] of Object.entries(record)) {
      // Counts by world, which name no player.
      if (field === redactedField) continue
      if (field === members?.field) visitMembers(value, members.nameless)
      else if (field === playerMap) visit(value, false, true)
      else Reflect.set(record, field, visit(value, !without.has(field)))
    }
  }

  function visitMembers(ranks: unknown, without: ReadonlySet<string>): void {
    if (typeof ranks !== 'object' || ranks === null) return
    for (const ofRank of Object.values(ranks)) {
      if (typeof ofRank !== 'object' || ofRank === null) continue
      for (const [key, member] of Object.entries(ofRank)) {
        const name = replaced(key, true)
        if (name !== key) {
          Reflect.deleteProperty(ofRank, key)
          Reflect.set(ofRank, name, member)
        }
        visitRecord(member, without)
      }
    }
  }

  visitRecord(body, nameless)
  return found
}
