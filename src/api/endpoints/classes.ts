import { type CallOptions, readObject, readObjectOrList } from '../call.ts'
import type { Transport } from '../http/transport.ts'
import { parseAbilityTree, parseClass, parseClassList, readAbilityNodes, readAspects } from '../schemas/abilities.ts'
import type { Known } from '../schemas/form/field-meta.ts'
import type { itemVocabulary } from '../schemas/items.ts'

/** A class, in lower case. */
export type ClassName = Known<(typeof itemVocabulary.classRequirement)[number]>

/** Classes with their abilities and aspects (API reference 3.4). NotFound for a class that does not exist. */
export function classEndpoints(transport: Transport) {
  return {
    abilities: {
      /** `GET /ability/tree/{class}`: archetypes, and abilities by page. */
      tree: (name: ClassName, call: CallOptions = {}) =>
        readObject(transport, { route: '/ability/tree/{class}', segments: [name] }, call, parseAbilityTree),
      /** `GET /ability/map/{class}`: where abilities and connectors stand. */
      map: (name: ClassName, call: CallOptions = {}) => {
        const request = { route: '/ability/map/{class}', segments: [name] }
        return readObjectOrList(transport, request, call, readAbilityNodes)
      },
    },
    /** `GET /aspects/{class}`: aspects; a list, or until spring 2026 an object by name. */
    aspects: (name: ClassName, call: CallOptions = {}) =>
      readObjectOrList(transport, { route: '/aspects/{class}', segments: [name] }, call, readAspects),
    classes: {
      /** `GET /classes`: every class by id, in short. */
      list: (call: CallOptions = {}) => readObject(transport, { route: '/classes' }, call, parseClassList),
      /** `GET /classes/{class}`: one class with its archetypes. */
      get: (name: ClassName, call: CallOptions = {}) =>
        readObject(transport, { route: '/classes/{class}', segments: [name] }, call, parseClass),
    },
  }
}
