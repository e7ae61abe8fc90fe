import { fieldsOf } from '../api/schemas/form/unknown.ts'
import type { Fields } from '../sync/declare/resource.ts'
import { uuidField } from './record.ts'

/** Whether a record is about the player. @param uuid as Postgres prints it */
export const isAbout = (record: unknown, uuid: string) => uuidField(record, 'uuid') === uuid

/** Removes fields, in place; true when there was one of them. */
export function removeFields(from: Fields, names: readonly string[]): boolean {
  const present = names.filter((name) => Object.hasOwn(from, name))
  for (const name of present) delete from[name]
  return present.length > 0
}

/** The fields of a rule. Rules are named by the API, and may be called `constructor`. */
export function fieldsUnder(rules: Readonly<Record<string, readonly string[]>>, rule: string): readonly string[] {
  return Object.hasOwn(rules, rule) ? (rules[rule] ?? []) : []
}

/** The rules of which a record has a field with a value. `online: false` is what hiding looks like too: alone, it shows nothing. */
export function rulesShown(record: unknown, rules: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(rules).flatMap(([rule, names]) => (names.some((name) => hasValue(record, name)) ? [rule] : []))
}

/** The rules of which a record has a field, whatever its value. */
export function rulesSent(record: unknown, rules: Readonly<Record<string, readonly string[]>>): string[] {
  const sent = new Set(fieldsOf(record).map(([name]) => name))
  return Object.entries(rules).flatMap(([rule, names]) => (names.some((name) => sent.has(name)) ? [rule] : []))
}

export function hasValue(record: unknown, name: string): boolean {
  const value = fieldsOf(record).find(([field]) => field === name)?.[1]
  if (value === undefined || value === null || value === false || value === '') return false
  return typeof value !== 'object' || fieldsOf(value).length > 0
}

/** A rule under the name that profiles use: OAuth calls one `hunted_characters_access` (API reference 7.3). */
export function ruleName(rule: string): string {
  return rule === 'huntedCharactersAccess' ? 'huntedCharacterAccess' : rule
}
