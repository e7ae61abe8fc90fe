import * as z from 'zod'
import { deepestNesting } from '../form/limits.ts'
import { type OddField, typeOf } from '../form/record.ts'
import { fieldsOf, isFields } from '../form/unknown.ts'

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

/**
 * Rules by name; anything is accepted, because what is not understood hides. A rule that is left out is not a promise that
 * nothing is hidden.
 */
export const restrictionsSchema = z.unknown()

/**
 * What a player's, member's or character's record says is hidden from us: names of rules in camelCase whichever way they were
 * spelled, each once and in order of the alphabet. Only `false`, `null`, "public" and what is left out are public: any other
 * value hides. A value that names no rule hides
 * everything.
 */
export function restrictionsOf(record: unknown): string[] {
  return readRestrictions(record).names
}

/** The same, with what of it is of an unexpected form. */
export function readRestrictions(record: unknown): {
  readonly names: string[]
  readonly odd: readonly OddField[]
  /** Rules that it says to be public. */
  readonly open: readonly string[]
  /** It says which rules hide something: of what it leaves out, or of null, that is a weaker sign of being public. */
  readonly namesRules: boolean
  /** Those of the names that are hidden in doubt alone: it names no rule, or its value says false in another way. */
  readonly unsure: readonly string[]
} {
  const sent = fieldsOf(record).find(([name]) => name === 'restrictions')?.[1]
  if (isPublic(sent))
    return {
      names: [],
      odd: [],
      open: saysPublic(sent) ? restrictionVocabulary : [],
      namesRules: false,
      unsure: [],
    }
  if (!isFields(sent)) {
    const listed = Array.isArray(sent) && sent.every((name) => typeof name === 'string' && name !== '')
    const names = [...new Set(listed ? sent.map(ruleNamed) : restrictionVocabulary)].sort()
    return { names, odd: [oddRule(sent)], open: [], namesRules: listed, unsure: listed ? [] : names }
  }
  const hiding = Object.entries(sent).filter(([, value]) => !isPublic(value))
  const odd = hiding.filter(([, value]) => value !== true)
  const names = [...new Set(hiding.map(([name]) => ruleNamed(name)))].sort()
  const sure = new Set(hiding.flatMap(([name, value]) => (spellsFalse(value) ? [] : [ruleNamed(name)])))
  return {
    names,
    odd: odd.map(([name, value]) => oddRule(value, name)),
    open: Object.entries(sent).flatMap(([name, value]) => (saysPublic(value) ? [ruleNamed(name)] : [])),
    namesRules: true,
    unsure: names.filter((name) => !sure.has(name)),
  }
}

function oddRule(value: unknown, ...name: readonly string[]): OddField {
  const anywhere = `/restrictions${name.length > 0 ? '/*' : ''}`
  const reason = 'a restriction that is neither true nor false hides'
  return { place: ['restrictions', ...name], value, anywhere, type: typeOf(value), reason }
}

/** Whether a value of a restriction is there and says that nothing is hidden. */
function saysPublic(value: unknown): boolean {
  return value !== undefined && value !== null && isPublic(value)
}

/** Whether a value of a restriction hides nothing that is not hidden already. */
export function isPublic(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true
  return typeof value === 'string' && value.trim().toLowerCase() === 'public'
}

const falseWords = new Set(['', '0', 'false', 'no', 'none', 'null', 'off'])

/** Whether a value says false as other languages spell it: such as 0, an empty list or "no". What nests deeper than a record may says nothing. */
function spellsFalse(value: unknown, levels = deepestNesting): boolean {
  if (typeof value === 'string') return falseWords.has(value.trim().toLowerCase())
  if (!value || typeof value !== 'object') return !value
  return levels > 0 && Object.values(value).every((one) => isPublic(one) || spellsFalse(one, levels - 1))
}

const rulesByLetters = new Map(restrictionVocabulary.map((name) => [lettersOf(name), name]))

/** The name of a rule in camelCase: `online_status`, `Online-Status` and `onlineStatus` are one. */
function ruleNamed(name: string): string {
  return (
    rulesByLetters.get(lettersOf(name)) ??
    name.replaceAll(/_+([a-z0-9])/g, (_under, letter: string) => letter.toUpperCase())
  )
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]/g, '')
}
