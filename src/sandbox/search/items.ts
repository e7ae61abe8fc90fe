import * as z from 'zod'
import { camelCase } from '../generator/names.ts'
import type { Item } from '../generator/records.ts'
import { isRefusal, type Refusal } from '../http/answer.ts'
import { range, readForm, text, texts } from './form.ts'

const gatheredWith: Readonly<Record<string, string>> = {
  axe: 'woodcutting',
  pickaxe: 'mining',
  rod: 'fishing',
  scythe: 'farming',
}

const itemForm = z.object({
  query: text,
  levelRange: range,
  type: texts,
  tier: texts,
  attackSpeed: texts,
  professions: texts,
  identifications: texts,
  majorIds: texts,
})

/**
 * Reads the body of `POST /item/search` (API reference 3.3). Several values of one field mean any of them, several
 * fields all of them; a field without values matches nothing.
 * @returns whether an item is meant
 */
export function readItemFilter(body: string | undefined): ((item: Item) => boolean) | Refusal {
  const form = readForm(itemForm, body)
  if (isRefusal(form)) return form
  const { query, levelRange, type, tier, attackSpeed, professions, identifications, majorIds } = form.fields
  const named: readonly (readonly [
    readonly string[] | null | undefined,
    (item: Item) => readonly (string | undefined)[],
  ])[] = [
    [type, (item) => [item.type, item.subType, camelCase((item.subType ?? '').replaceAll('_', ' '))]],
    [tier, (item) => [item.tier]],
    [attackSpeed, (item) => [item.attackSpeed]],
    [professions, professionsOf],
    [identifications, (item) => Object.keys(item.identifications ?? {})],
    // Their labels in item records, their ids in the metadata (API reference 5.2).
    [majorIds, (item) => Object.keys(item.majorIds ?? {}).flatMap((one) => [one, camelCase(one)])],
  ]
  return (item) => {
    const level = Number(item.requirements.level)
    if (query && !item.displayName.toLowerCase().includes(query.toLowerCase())) return false
    if (levelRange && !(levelRange.low <= level && level <= levelRange.high)) return false
    return named.every(([wanted, of]) => !wanted || of(item).some((one) => one !== undefined && wanted.includes(one)))
  }
}

function professionsOf({ requirements, type, subType = '' }: Item): readonly string[] {
  const { skills } = requirements
  if (Array.isArray(skills)) return skills
  if (type === 'tool') return [gatheredWith[subType] ?? subType]
  return type === 'material' ? [subType] : []
}
