import type { ResourceBase } from '../declare/resource.ts'
import { type Novelty, unknownMembers } from './drift.ts'
import type { Json } from './hash.ts'
import type { Prepared } from './prepare.ts'

type Found = Novelty & { readonly key: string }

/**
 * What the given entities hold, and those of other histories that came with them, that the program does not know; each
 * thing once, with one entity that has it. Paths of another history begin with its name.
 */
export function noveltiesOf(resource: ResourceBase, entities: readonly Prepared[]): Found[] {
  const once = new Map<string, Found>()
  const add = (one: Found) => {
    const name = `${one.kind} ${one.path} ${one.member}`
    if (!once.has(name)) once.set(name, one)
  }
  for (const entity of entities) {
    for (const one of unknownIn(documentOf(entity), resource)) add({ ...one, key: entity.key })
    for (const [name, history] of Object.entries(resource.relatedHistories ?? {})) {
      for (const other of entity.relatedEntities[name] ?? [])
        for (const one of unknownIn(documentOf(other), history))
          add({ ...one, path: `/${name}/*${one.path}`, key: other.key })
    }
  }
  return [...once.values()]
}

function unknownIn(
  document: Json,
  { unknownFields = () => [], vocabulary = {} }: Partial<Pick<ResourceBase, 'unknownFields' | 'vocabulary'>>,
): Novelty[] {
  const fields = unknownFields(document).map(({ path, value }) => {
    return { kind: 'unknown_field' as const, path, member: '', example: value as Json }
  })
  return [...fields, ...unknownMembers(document, vocabulary)]
}

export function documentOf(entity: Prepared): Json {
  return JSON.parse(entity.documentText) as Json
}
