import { storable } from '../../api/schemas/form/limits.ts'
import type { Misfit } from '../../api/schemas/form/record.ts'
import type { UnknownField } from '../../api/schemas/form/unknown.ts'
import { RetryableError } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import type { ResourceBase } from '../declare/resource.ts'
import { appendDrift } from '../ledger/ledger.ts'
import { isObject, pointerStep } from '../normalize/changed-fields.ts'
import type { Novelty } from '../normalize/drift.ts'
import type { Json } from '../normalize/hash.ts'
import { tooDeep } from '../normalize/nesting.ts'
import { documentOf, noveltiesOf } from '../normalize/novelties.ts'
import { oddOf, type Preparation, type Prepared, rootsOf } from '../normalize/prepare.ts'
import { canonicalValues } from '../normalize/values.ts'
import type { Loaded } from './load.ts'
import type { GoneField, IncomingResponse } from './validate-response.ts'

type Found = Novelty & { readonly key: string }

interface LoadedResponse {
  readonly response: IncomingResponse
  readonly loaded: Loaded
  /** Paths of unknown fields that are volatile since then. */
  readonly volatile: readonly string[]
}

/**
 * Records, each thing once, what a response holds that the program does not know, what it lacks that was there before,
 * what is of another type, and what is back. Returns what was new.
 */
export async function recordDrift(
  sql: Sql,
  resource: ResourceBase,
  found: Parameters<typeof appendDrift>[1],
  { response, loaded, volatile }: LoadedResponse,
): ReturnType<typeof appendDrift> {
  const { preparation, extraction, gone, scope, unsent } = response
  const { entities } = preparation
  // What came with an unchanged record may be new all the same.
  const fresh = resource.relatedHistories ? entities : [...loaded.inserted, ...loaded.changed.map((one) => one.entity)]
  const novelties = [...noveltiesOf(resource, fresh), ...misfits(preparation)]
  for (const path of unsent?.begun ?? []) novelties.push(missing(path, ''))
  for (const path of unsent?.ended ?? []) novelties.push({ ...missing(path, ''), kind: 'returned_field' })
  for (const field of extraction.around ?? []) novelties.push(ofResponse(field))
  for (const path of volatile) novelties.push({ kind: 'volatile_field', path, member: '', example: null, key: '' })
  // Of a key of a worklist, what others have is not known.
  if (scope === undefined)
    for (const lost of [lossesOf(entities, loaded.changed), vanishedUnknown(resource, entities, loaded.changed)])
      for (const one of lost) novelties.push(one)
  return await appendDrift(sql, found, [...novelties, ...returnedOf(gone, preparation)])
}

/** A field of a response that is in none of its records. */
function ofResponse({ path, value }: UnknownField): Found {
  const example = tooDeep(value) === undefined ? (canonicalValues(value, new Map()) as Json) : null
  return { kind: 'unknown_field', path: storable(path), member: '', example, key: '' }
}

/** How many records of a response must have lost a field at once, and which share of them, for it to count as missing. */
const LOST_RECORDS = 5
const LOST_SHARE = 0.5

/** Whether a document has something at a JSON pointer, where `*` stands for any element and any key. */
export function holds(document: Json | undefined, pointer: string): boolean {
  return holdsAt(
    document,
    pointer
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
  )
}

function holdsAt(value: Json | undefined, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return value !== undefined && value !== null
  if (value === null || typeof value !== 'object') return false
  const fields = value as { readonly [key: string]: Json | undefined }
  return step === '*'
    ? Object.values(fields).some((one) => holdsAt(one, rest))
    : Object.hasOwn(fields, step) && holdsAt(fields[step], rest)
}

/** Fields that one document had and the next one has not; of what is nested, only the outermost. Nothing inside of lists. */
export function lostFields(before: Json | undefined, after: Json | undefined, path = ''): string[] {
  if (!isObject(before) || !isObject(after)) return []
  const lost: string[] = []
  for (const [name, had] of Object.entries(before)) {
    if (had === undefined || had === null) continue
    const there = Object.hasOwn(after, name) ? after[name] : null
    const place = () => path + pointerStep(name)
    if (there === undefined || there === null) lost.push(place())
    else if (typeof there === 'object') for (const field of lostFields(had, there, place())) lost.push(field)
  }
  return lost
}

/** Counts, over responses, which fields go missing at once. */
export function countLosses() {
  const fields = new Map<string, { readonly times: number; readonly key: string }>()
  let records = 0
  return {
    /** A record came, and lost these fields. */
    add(key: string, lost: readonly string[]): void {
      records += 1
      for (const path of lost) {
        const first = fields.get(path) ?? { key, times: 0 }
        fields.set(path, { ...first, times: first.times + 1 })
      }
    },
    /** Fields that a large share of the records lost. */
    found: () =>
      [...fields].flatMap(([path, { times, key }]) =>
        times >= LOST_RECORDS && times >= LOST_SHARE * records ? [missing(path, key)] : [],
      ),
  }
}

/** Which fields each record lost, by its key. */
export function lostBy(changed: Loaded['changed']): Map<string, string[]> {
  return new Map(changed.map(({ entity, before }) => [entity.key, lostFields(before, documentOf(entity))]))
}

/** The same within one response. */
function lossesOf(entities: readonly Prepared[], changed: Loaded['changed']): Found[] {
  const lost = lostBy(changed)
  if (![...lost.values()].some((paths) => paths.length > 0)) return []
  const losses = countLosses()
  for (const { key } of entities) losses.add(key, lost.get(key) ?? [])
  return losses.found()
}

function missing(path: string, key: string): Found {
  return { kind: 'missing_field', path, member: '', example: null, key }
}

/** Fields that the program does not know and that were in records of the previous response, and are in none of this one. */
function vanishedUnknown(resource: ResourceBase, entities: readonly Prepared[], changed: Loaded['changed']): Found[] {
  const gone = new Map<string, Found>()
  for (const { entity, before } of changed) {
    for (const { path } of before === null ? [] : resource.unknownFields(before))
      gone.set(path, missing(path, entity.key))
  }
  if (gone.size === 0) return []
  for (const entity of entities) for (const { path } of resource.unknownFields(documentOf(entity))) gone.delete(path)
  return [...gone.values()]
}

/** Fields of a record that are of another type, or not there, although the program cannot do without them. */
function misfits({ quarantined, entities }: Preparation): Found[] {
  const once = new Map<string, Found>()
  const add = ({ anywhere: path, type }: Misfit, key: string) => {
    const name = `${path} ${type}`
    if (once.has(name)) return
    once.set(
      name,
      type === 'undefined' ? missing(path, key) : { ...missing(path, key), kind: 'retyped_field', member: type },
    )
  }
  for (const { key = '', misfit } of quarantined) if (misfit) add(misfit, key)
  for (const { key, odd } of oddOf(entities)) for (const misfit of odd) add(misfit, key)
  return [...once.values()]
}

/** SQL: all `GoneField` of the resource `$1`, as JSON. */
export const GONE_FIELDS = `(select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'path', path, 'key', key)), '[]') from sync.drift
               where resource = $1 and kind in ('missing_field', 'retyped_field')
                 and not exists (select from sync.drift back where back.resource = $1 and back.path = drift.path and back.kind = 'returned_field'))`

/** What is back as it was in the record that showed it: recorded once, as a row of kind `returned_field`. */
function returnedOf(gone: readonly GoneField[], preparation: Preparation): Found[] {
  if (gone.length === 0) return []
  const entities = new Map(rootsOf(preparation).map((entity) => [entity.key, entity]))
  const still = new Set(misfits(preparation).map(({ path }) => path))
  return gone.flatMap(({ path, key, kind }) => {
    const entity = entities.get(key)
    // A response that was of another shape as a whole has no key: any that can be read is its return.
    // A field that the resource does not send has no key: that it is sent again is judged by all records.
    if (key === '' && path !== '') return []
    const isBack =
      key === ''
        ? entities.size > 0
        : entity !== undefined && (kind === 'retyped_field' || path === '' || holds(documentOf(entity), path))
    return isBack && !still.has(path) ? [{ kind: 'returned_field', path, member: '', example: null, key }] : []
  })
}

/** The drift of a response that is of another shape as a whole. @param key of a worklist */
export function reshaped(error: unknown, key = ''): Found[] {
  const shape = error instanceof RetryableError ? error.context.shape : undefined
  return typeof shape === 'string' ? [{ kind: 'retyped_field', path: '', member: shape, example: null, key }] : []
}
