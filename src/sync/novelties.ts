import { type Novelty, unknownFieldNovelties, unknownMembers } from './drift.ts'
import type { Json } from './hash.ts'
import type { Prepared } from './prepare.ts'
import type { Recorded } from './resource.ts'

/** What the given entities hold that the program does not know, each thing once with one entity that has it. */
export function noveltiesOf(resource: Recorded, entities: readonly Prepared[]): (Novelty & { readonly key: string })[] {
  const once = new Map<string, Novelty & { readonly key: string }>()
  for (const entity of entities) {
    const document = documentOf(entity)
    const fields = unknownFieldNovelties(resource.unknownFields(document))
    for (const one of [...fields, ...unknownMembers(document, resource.vocabulary)]) {
      const name = `${one.kind} ${one.path} ${one.member}`
      if (!once.has(name)) once.set(name, { ...one, key: entity.key })
    }
  }
  return [...once.values()]
}

export function documentOf(entity: Prepared): Json {
  return JSON.parse(entity.documentText) as Json
}
