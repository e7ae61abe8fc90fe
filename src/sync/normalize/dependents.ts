import { isFields } from '../../api/schemas/form/unknown.ts'
import { RecordError } from '../../base/errors.ts'
import type { Entity, ResourceBase, Row } from '../declare/resource.ts'
import { canonicalJson, type Json } from './hash.ts'
import { withBody } from './prepare-entity.ts'
import { canonicalValues } from './values.ts'

/**
 * What of a history follows from some fields of a record: columns by property name, each with what it is without them, and parts, each
 * with its columns that are empty without them; `*`: it has no rows without them. `hasRows`: so does which entities there are.
 */
export interface DependentColumns {
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>
  readonly parts: ReadonlyMap<string, ReadonlySet<string>>
  readonly hasRows: boolean
}

/** What of a resource's tables follows from some fields of its records. */
export interface Dependents {
  readonly root: DependentColumns
  readonly related: ReadonlyMap<string, DependentColumns>
  /** Columns of samples, by the name of their table; `*`: which rows there are. */
  readonly samples: ReadonlyMap<string, ReadonlySet<string>>
  /** Whether facts of records follow from them. */
  readonly hasFacts: boolean
}

/** The fields that a response lacks, and what follows from them. */
export interface UnsentFields {
  readonly fields: readonly string[]
  readonly dependents: Dependents
  /** The same of those that enough responses lack: what is measured by them is unknown, and no more as before. */
  readonly unknown: Dependents
  /** Why the response is loaded in part only; null where it may be by chance that its few records lack them. */
  readonly reason: string | null
  /** Those that are noted as missing since this response. */
  readonly begun: readonly string[]
  /** Those that are sent again since this response. */
  readonly ended: readonly string[]
}

interface FoundColumns {
  readonly columns: Map<string, Set<string>>
  readonly parts: Map<string, Set<string>>
  hasRows: boolean
}

interface Found {
  readonly root: FoundColumns
  readonly related: Map<string, FoundColumns>
  readonly samples: Map<string, Set<string>>
  hasFacts: boolean
}

const noColumns = (): FoundColumns => ({ columns: new Map(), parts: new Map(), hasRows: false })

const nothingFound = (): Found => ({
  root: noColumns(),
  related: new Map(),
  samples: new Map(),
  hasFacts: false,
})

/** So many records are tried for a field: which columns follow from it is the same for all. */
const TRIED_RECORDS = 8

/** What was found of each field of a resource; it is the same for all of its responses. */
const known = new WeakMap<ResourceBase, Map<string, Found>>()

/**
 * Finds out what follows from fields: records are normalized without them and with examples of them, and what differs follows.
 * @param at the instant that the response speaks for, ms since the epoch
 */
export function dependentsOf(
  resource: ResourceBase,
  records: readonly unknown[],
  fields: readonly string[],
  at: number,
): Dependents {
  const ofResource = known.get(resource) ?? new Map<string, Found>()
  known.set(resource, ofResource)
  const all = nothingFound()
  for (const field of fields) {
    const found = ofResource.get(field) ?? tryField(resource, records, field, at)
    if (found) ofResource.set(field, found)
    if (found) merge(all, found)
  }
  return all
}

/**
 * What follows from a field in these records, which may have it under another name. Undefined where none of them tells.
 * @param at the instant that the response speaks for, ms since the epoch
 */
export function tryField(
  resource: ResourceBase,
  records: readonly unknown[],
  field: string,
  at: number,
): Found | undefined {
  const found = nothingFound()
  const steps = field.split('/').slice(1)
  const examples = resource.sent?.examples(field) ?? []
  const entityOf = (record: unknown): Entity | undefined => {
    try {
      return resource.normalize(record, { observedAt: at })
    } catch (error) {
      if (error instanceof RecordError) return undefined
      throw error
    }
  }
  let tried = 0
  for (const record of records) {
    if (tried >= TRIED_RECORDS) break
    const body = resource.bodyOf ? resource.bodyOf(record) : record
    const plain = canonicalValues(body, new Map())
    const without = changed(plain, steps, undefined)
    if (without === undefined) continue
    const before = entityOf(withBody(record, body, without))
    let isTried = false
    for (const example of examples) {
      const after = entityOf(withBody(record, body, changed(plain, steps, example)))
      if (before && after) {
        compare(resource, before, after, found)
        isTried = true
      }
    }
    if (isTried) tried++
  }
  return tried > 0 ? found : undefined
}

/** A copy with another value of a field wherever it may stand; undefined where it may stand nowhere. @param value undefined: without it */
function changed(value: unknown, [step = '', ...rest]: readonly string[], example: unknown): unknown {
  if (Array.isArray(value)) {
    if (step !== '*') return undefined
    const elements = value.map((one) => changed(one, rest, example))
    return elements.some((one) => one !== undefined) ? elements.map((one, nth) => one ?? value[nth]) : undefined
  }
  if (!isFields(value)) return undefined
  if (rest.length === 0) {
    const { [step]: _, ...others } = value
    return example === undefined ? others : { ...others, [step]: example }
  }
  const inner = Object.entries(value).flatMap(([name, one]) => {
    const copy = step === '*' || name === step ? changed(one, rest, example) : undefined
    return copy === undefined ? [] : [[name, copy] as const]
  })
  return inner.length > 0 ? { ...value, ...Object.fromEntries(inner) } : undefined
}

function compare({ samples = {} }: ResourceBase, before: Entity, after: Entity, found: Found): void {
  compareRows(before, after, found.root)
  for (const [name, others = []] of Object.entries(after.relatedEntities ?? {})) {
    const entities = new Map((before.relatedEntities?.[name] ?? []).map((one) => [one.key, one]))
    const into = found.related.get(name) ?? noColumns()
    found.related.set(name, into)
    if (entities.size === 0 && others.length > 0) into.hasRows = true
    for (const other of others) {
      const entity = entities.get(other.key)
      if (entity) compareRows(entity, other, into)
    }
  }
  for (const name of Object.keys({ ...before.samples, ...after.samples })) {
    const rows = before.samples?.[name] ?? []
    const key = samples[name]?.key ?? []
    const keyOf = (row: Row) => canonicalJson(key.map((property) => (row[property] ?? null) as Json))
    const others = new Map((after.samples?.[name] ?? []).map((row) => [keyOf(row), row]))
    const into = found.samples.get(name) ?? new Set()
    found.samples.set(name, into)
    if (rows.length === 0 && others.size > 0) into.add('*')
    for (const row of rows)
      for (const property of differing(row, others.get(keyOf(row)) ?? row))
        if (!key.includes(property)) into.add(property)
  }
  if (textOf(before.facts) !== textOf(after.facts)) found.hasFacts = true
}

function compareRows(before: Entity, after: Entity, into: FoundColumns): void {
  // Where a record has no name, its key stands for it. What else a column has without the field, another field says.
  const keys = [before.key, ...before.key.split('/')].map(textOf)
  for (const property of differing(before.root, after.root)) {
    const without = textOf(before.root[property])
    if (!isEmpty(without) && !keys.includes(without)) continue
    into.columns.set(property, (into.columns.get(property) ?? new Set()).add(without))
  }
  for (const part of new Set([...Object.keys(before.parts), ...Object.keys(after.parts)])) {
    const rows = before.parts[part] ?? []
    const others = after.parts[part] ?? []
    if (textOf(rows) !== textOf(others))
      into.parts.set(part, new Set([...(into.parts.get(part) ?? []), ...emptyIn(rows, others)]))
  }
}

/** The columns of a part that are empty without a field; `*` where it has no rows. */
function emptyIn(before: readonly Row[], after: readonly Row[]): readonly string[] {
  if (before.length === 0) return ['*']
  if (before.length !== after.length) return []
  return before.flatMap((row, nth) =>
    differing(row, after[nth] ?? {}).filter((property) => isEmpty(textOf(row[property]))),
  )
}

/** Whether JSON text says nothing. A number or a boolean without a field is what another field says. */
export function isEmpty(text: string): boolean {
  return ['null', '""', '[]', '{}'].includes(text)
}

function differing(before: Row, after: Row): string[] {
  const properties = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...properties].filter((property) => textOf(before[property]) !== textOf(after[property]))
}

/** JSON text of a value of a row; nothing is null. */
export function textOf(value: unknown): string {
  return value === undefined ? 'null' : canonicalJson(JSON.parse(JSON.stringify(value)) as Json)
}

function merge(all: Found, { root, related, samples, hasFacts }: Found): void {
  mergeColumns(all.root, root)
  for (const [name, columns] of related) {
    const into = all.related.get(name) ?? noColumns()
    all.related.set(name, into)
    mergeColumns(into, columns)
  }
  for (const [name, columns] of samples) all.samples.set(name, new Set([...(all.samples.get(name) ?? []), ...columns]))
  all.hasFacts ||= hasFacts
}

function mergeColumns(all: FoundColumns, { columns, parts, hasRows }: FoundColumns): void {
  all.hasRows ||= hasRows
  for (const [property, values] of columns)
    all.columns.set(property, new Set([...(all.columns.get(property) ?? []), ...values]))
  for (const [part, names] of parts) all.parts.set(part, new Set([...(all.parts.get(part) ?? []), ...names]))
}
