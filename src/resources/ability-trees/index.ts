import * as z from 'zod'
import { abilityNodesOf } from '../../api/schemas/abilities.ts'
import { fieldsOf, type UnknownField, unknownFields } from '../../api/schemas/form/unknown.ts'
import { defineResource } from '../../sync/declare/resource.ts'
import { filesOfClasses, perClass } from '../per-class.ts'
import { fieldOf, hasFields, knownBy } from '../record.ts'
import { keyOfNode, normalizeNode, recordsOfClass } from './normalize.ts'
import { abilityHistory } from './tables.ts'

const aroundAbilities = unknownFields(z.looseObject({ archetypes: z.unknown(), pages: z.unknown() }))

/** Abilities of all classes: `GET /ability/tree/{class}` and `GET /ability/map/{class}` (API reference 3.4, 8). */
export const abilityTrees = defineResource({
  name: 'ability-trees',
  schedule: '14 */3 * * *',
  cacheSeconds: 3600,
  route: '/ability/tree/{class}',
  rawCost: '250 kB a response',
  file: {
    notSent: [
      {
        is: (node) => hasFields(node, 'display_name', 'parents', 'blockers'),
        what: 'ability trees as a build planner has them',
      },
    ],
    respondsTo: filesOfClasses({
      '/ability/tree/': (body) => hasFields(body, 'archetypes', 'pages'),
      '/ability/map/': isAbilityMap,
    }),
  },
  changeLog: true,
  history: abilityHistory,
  extract: async (api, options) => {
    const around: UnknownField[] = []
    const all = await perClass(api, options, (name, call) => [
      {
        what: `ability tree of ${name}`,
        ask: () =>
          api.abilities.tree(name, call).then((tree) => {
            around.push(...aroundAbilities(tree.body))
            const lists = ['archetypes', 'pages'] as const
            return [tree, recordsOfClass(name, tree.body, {}), lists.find((list) => !fieldsOf(tree.body[list]).length)]
          }),
      },
      {
        what: `ability map of ${name}`,
        ask: () => api.abilities.map(name, call).then((map) => [map, recordsOfClass(name, {}, map.body)]),
      },
    ])
    return { ...all, around }
  },
  keyOf: keyOfNode,
  bodyOf: (record) => fieldOf(record, 'body'),
  normalize: normalizeNode,
  ...knownBy(z.unknown()),
})

/** Whether a body is a list of nodes, or has one for each page, which is a number. */
function isAbilityMap(body: unknown): boolean {
  const isOfPages =
    Array.isArray(body) || hasFields(body, 'map') || fieldsOf(body).every(([page]) => /^\d+$/.test(page))
  const nodes = isOfPages ? abilityNodesOf(body).slice(0, 20) : []
  return nodes.length > 0 && nodes.every((node) => hasFields(node, 'coordinates', 'meta', 'type'))
}
