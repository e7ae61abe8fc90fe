import { classSchema, parseClass } from '../../api/schemas/abilities.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { filesOfClasses, perClass } from '../per-class.ts'
import { hasFields, knownBy, textField } from '../record.ts'
import { classHistory } from './tables.ts'

/** The classes: `GET /classes`, then `GET /classes/{class}` for each (API reference 3.4). */
export const classes = defineResource({
  name: 'classes',
  schedule: '2 */6 * * *',
  cacheSeconds: 3600,
  route: '/classes/{class}',
  rawCost: 'a few kB a response',
  file: {
    respondsTo: filesOfClasses({ '/classes/': (body) => hasFields(body, 'id', 'name', 'archetypes') }, (body) =>
      textField(body, 'id'),
    ),
  },
  changeLog: true,
  history: classHistory,
  extract: (api, options) =>
    perClass(api, options, (name, call) => [
      { ask: () => api.classes.get(name, call).then((answer) => [answer, [answer.body]]) },
    ]),
  keyOf: (record) => textField(record, 'id'),
  normalize: normalizeClass,
  ...knownBy(classSchema),
})

function normalizeClass(record: unknown): Normalized<typeof classHistory> {
  const parsed = parseClass(record)
  const { id, name, lore, overallDifficulty, overallMax, archetypes } = parsed
  return {
    key: id,
    document: parsed as Json,
    root: { class: id, name, lore, overallDifficulty, overallMax },
    parts: {
      archetypes: Object.entries(archetypes ?? {}).map(([archetype, { difficulty, max, icon, ...values }]) => {
        const { name: shown, damage, defence, range, speed } = values
        return { archetype, name: shown, icon, difficulty, max, damage, defence, range, speed }
      }),
    },
  }
}
