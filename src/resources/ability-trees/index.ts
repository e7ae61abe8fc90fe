import * as z from 'zod'
import type { ApiResponse } from '../../api/response.ts'
import type { Body } from '../../api/schemas/form/bodies.ts'
import { defineResource } from '../../sync/declare/resource.ts'
import { perClass } from '../per-class.ts'
import { fieldOf, knownBy } from '../record.ts'
import { keyOfNode, normalizeNode, recordsOfClass } from './normalize.ts'
import { abilityHistory } from './tables.ts'

/** Abilities of all classes: `GET /ability/tree/{class}` and `GET /ability/map/{class}` (API reference 3.4, 8). */
export const abilityTrees = defineResource({
  name: 'ability-trees',
  schedule: '14 */3 * * *',
  cacheSeconds: 3600,
  route: '/ability/tree/{class}',
  rawCost: '250 kB a response',
  changeLog: true,
  history: abilityHistory,
  extract: (api, options) =>
    perClass<ApiResponse<Body>>(
      api,
      options,
      async (name, call) => [await api.abilities.tree(name, call), await api.abilities.map(name, call)],
      (name, [tree, map]) => recordsOfClass(name, tree?.body, map?.body),
    ),
  keyOf: keyOfNode,
  bodyOf: (record) => fieldOf(record, 'body'),
  normalize: normalizeNode,
  ...knownBy(z.unknown()),
})
