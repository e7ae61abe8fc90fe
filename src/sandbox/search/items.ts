import { camelCase } from '../generator/names.ts'
import type { Item } from '../generator/records.ts'
import type { Refusal } from '../http/answer.ts'
import { readForm } from './form.ts'

const gatheredWith: Readonly<Record<string, string>> = {
  axe: 'woodcutting',
  pickaxe: 'mining',
  rod: 'fishing',
  scythe: 'farming',
}

/**
 * Reads the body of `POST /item/search` (API reference 3.3). Several values of one field mean any of them, several
 * fields all of them; a field without values matches nothing.
 * @returns whether an item is meant
 */
export function readItemFilter(body: string | undefined): ((item: Item) => boolean) | Refusal {
  return readForm(body, (form) => {
    const query = form.text('query')?.toLowerCase()
    const levels = form.range('levelRange')
    const named: readonly (readonly [
      readonly string[] | undefined,
      (item: Item) => readonly (string | undefined)[],
    ])[] = [
      [form.texts('type'), ({ type, subType = '' }) => [type, subType, camelCase(subType.replaceAll('_', ' '))]],
      [form.texts('tier'), ({ tier }) => [tier]],
      [form.texts('attackSpeed'), ({ attackSpeed }) => [attackSpeed]],
      [form.texts('professions'), professionsOf],
      [form.texts('identifications'), ({ identifications = {} }) => Object.keys(identifications)],
      // Their labels in item records, their ids in the metadata (API reference 5.2).
      [form.texts('majorIds'), ({ majorIds = {} }) => Object.keys(majorIds).flatMap((one) => [one, camelCase(one)])],
    ]
    return (item) => {
      const level = Number(item.requirements.level)
      if (query !== undefined && !item.displayName.toLowerCase().includes(query)) return false
      if (levels && !(levels.low <= level && level <= levels.high)) return false
      return named.every(([wanted, of]) => !wanted || of(item).some((one) => one !== undefined && wanted.includes(one)))
    }
  })
}

function professionsOf({ requirements, type, subType = '' }: Item): readonly string[] {
  const { skills } = requirements
  if (Array.isArray(skills)) return skills
  if (type === 'tool') return [gatheredWith[subType] ?? subType]
  return type === 'material' ? [subType] : []
}
