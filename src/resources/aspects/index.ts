import { aspectSchema, parseAspect } from '../../api/schemas/abilities.ts'
import { recordsOf } from '../../api/schemas/form/bodies.ts'
import { isFields } from '../../api/schemas/form/unknown.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { filesOfClasses, perClass } from '../per-class.ts'
import { fieldOf, hasFields, knownBy, plainText, recordError, textField } from '../record.ts'
import { aspectHistory } from './tables.ts'

/** The aspects of all classes: `GET /aspects/{class}` (API reference 3.4, 8). */
export const aspects = defineResource({
  name: 'aspects',
  schedule: '4 */3 * * *',
  cacheSeconds: 3600,
  route: '/aspects/{class}',
  rawCost: '25 kB a response',
  file: {
    notSent: [
      { is: isAspect, what: 'aspects with descriptions in a form that the API does not send' },
      {
        is: (record) => hasFields(record, 'displayName', 'tier', 'tiers'),
        what: 'aspects as a build planner has them',
      },
    ],
    respondsTo: filesOfClasses(
      {
        '/aspects/': (body) => {
          const some = isFields(body) || Array.isArray(body) ? recordsOf(body, 'name').slice(0, 20) : []
          return some.length > 0 && some.every((record) => isAspect(record) && hasTexts(record))
        },
      },
      classOfAspects,
    ),
  },
  changeLog: true,
  history: aspectHistory,
  extract: (api, options) =>
    perClass(api, options, (name, call) => [
      {
        what: `aspects of ${name}`,
        ask: () => api.aspects(name, call).then((answer) => [answer, recordsOf(answer.body, 'name')]),
      },
    ]),
  // Until April 2026 an aspect had only its name; one that has another key has it even where that cannot be read.
  keyOf: (record) => textField(record, hasFields(record, 'internalName') ? 'internalName' : 'name'),
  normalize: normalizeAspect,
  ...knownBy(aspectSchema),
})

function isAspect(record: unknown): boolean {
  return hasFields(record, 'icon', 'requiredClass', 'tiers')
}

/** Whether the descriptions are lists of HTML: as anything else they would be none. */
function hasTexts(record: unknown): boolean {
  return Object.values(Object(fieldOf(record, 'tiers'))).every((tier) => {
    const description = fieldOf(tier, 'description')
    return Array.isArray(description) && description.every((line) => typeof line === 'string')
  })
}

function normalizeAspect(record: unknown): Normalized<typeof aspectHistory> {
  const parsed = parseAspect(record)
  const { name, rarity, requiredClass, tiers } = parsed
  const internalName = parsed.internalName || name
  if (!internalName) throw recordError('/internalName', 'an aspect without a key and a name')
  return {
    key: internalName,
    document: parsed as Json,
    root: { internalName, name, rarity, requiredClass },
    parts: {
      tiers: Object.entries(tiers ?? {}).map(([tier, { threshold, description }]) => {
        const html = description?.join('\n') ?? null
        return { tier: Number(tier), threshold, descriptionHtml: html, description: html && plainText(html) }
      }),
    },
  }
}

/** The class that all aspects of a body are of; undefined where they are of several. */
function classOfAspects(body: unknown): string | undefined {
  const names = new Set(recordsOf(body, 'name').map((record) => fieldOf(record, 'requiredClass')))
  const [name] = names
  return names.size === 1 && typeof name === 'string' && /^[a-z]+$/i.test(name) ? name.toLowerCase() : undefined
}
