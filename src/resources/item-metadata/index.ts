import * as z from 'zod'
import { Unavailable } from '../../api/errors.ts'
import { deepestNesting } from '../../api/schemas/form/limits.ts'
import { isFields } from '../../api/schemas/form/unknown.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { knownBy, recordError, severalParts, textField } from '../record.ts'
import { enumerationHistory } from './tables.ts'

/** One member of an enumeration on its way from the wire. */
interface Member {
  readonly path: string
  readonly list: string
  readonly member: unknown
  readonly number: unknown
}

/**
 * The enumerations that describe items: `GET /item/metadata` with and without `?static` (API reference 3.3, 5.5).
 * The plain answer repeats the ids of the other one without saying which list they belong to; those are left out.
 */
export const itemMetadata = defineResource({
  name: 'item-metadata',
  schedule: '22 * * * *',
  cacheSeconds: 180,
  route: '/item/metadata',
  rawCost: 'a few kB a response',
  changeLog: true,
  history: enumerationHistory,
  extract: async (api, { signal, lane }) => {
    const ids = { static: true, signal, lane } as const
    return await severalParts([
      {
        what: 'enumerations',
        ask: () =>
          api.items.metadata({ signal, lane }).then((answer) => {
            const { static: _, ...named } = answer.body
            if (isOther(named)) throw new Unavailable('/item/metadata: something else than lists of names')
            return [answer, [...membersOf(named, '')]]
          }),
      },
      {
        what: 'ids',
        ask: () => api.items.metadata(ids).then((answer) => [answer, [...membersOf(answer.body, 'static')]]),
      },
    ])
  },
  keyOf: (record) => textField(record, 'path'),
  normalize: normalizeMember,
  ...knownBy(z.unknown()),
})

/** Whether it is something else than lists, such as an error in a form of its own. Kept for long enough, that would be believed. */
function isOther(body: object): boolean {
  const values = Object.values(body)
  return (
    'error' in body ||
    'errors' in body ||
    values.some((value) => typeof value === 'string') ||
    !values.some((value) => Array.isArray(value) || isFields(value))
  )
}

/** Every leaf of the answer: members of arrays by their own text, members of objects of numbers by their name. */
function* membersOf(value: unknown, list: string, levels = deepestNesting): Generator<Member> {
  if (Array.isArray(value)) {
    // The two bounds of `levelRange` are numbers; which is which is their place.
    for (const [index, one] of value.entries()) {
      const member = typeof one === 'number' ? (['min', 'max'][index] ?? String(index)) : one
      // As a text, a list in a list would be a walk through all of it.
      yield {
        path: `${list}/${typeof member === 'object' ? index : member}`,
        list,
        member,
        number: typeof one === 'number' ? one : null,
      }
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === 'object' && levels > 0) yield* membersOf(inner, list ? `${list}/${name}` : name, levels - 1)
      else yield { path: `${list}/${name}`, list, member: name, number: inner }
    }
  }
}

/** @throws RecordError when a member is neither text nor numbered */
function normalizeMember(record: unknown): Normalized<typeof enumerationHistory> {
  const { path, list, member, number } = record as Member
  if (typeof member !== 'string') throw recordError(path, `${list} has a member that is not text`)
  if (number !== null && typeof number !== 'number')
    throw recordError(path, `${path} should be numbered, found ${JSON.stringify(number)}`)
  return { key: path, document: { list, member, number } as Json, root: { path, list, member, number }, parts: {} }
}
