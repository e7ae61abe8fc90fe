import * as z from 'zod'
import { fieldsOf } from '../form/unknown.ts'

/**
 * The privacy rules the service has used so far (API reference 7.3), as players' records spell them. Guild members'
 * records say the same in snake_case. A rule that is not here is still accepted.
 */
export const restrictionVocabulary = [
  'mainAccess',
  'characterListAccess',
  'characterDataAccess',
  'characterBuildAccess',
  'huntedCharacterAccess',
  'onlineStatus',
  'guildHistoryAccess',
  'guildHighRankedAccess',
] as const

/** Rules by name. Only `true` hides something; a rule that is left out is not a promise that nothing is hidden. */
export const restrictionsSchema = z.record(z.string(), z.unknown())

/**
 * What a player's, member's or character's record says is hidden from us: the names of the rules that are `true`, in
 * camelCase whichever way they were spelled, each once and in order of the alphabet.
 */
export function restrictionsOf(record: unknown): string[] {
  const restrictions = fieldsOf(record).find(([name]) => name === 'restrictions')?.[1]
  const names = fieldsOf(restrictions).flatMap(([name, hidden]) => (hidden === true ? [inCamelCase(name)] : []))
  return [...new Set(names)].sort()
}

function inCamelCase(name: string): string {
  return name.replaceAll(/_+([a-z0-9])/g, (_under, letter: string) => letter.toUpperCase())
}
