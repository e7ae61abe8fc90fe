import { isFields } from '../../api/schemas/form/unknown.ts'
import { reach } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import { claimsAbout, corroborate, forgetClaims, type Witness } from '../evidence/claims.ts'
import { CALM_TIME, policiesOf } from '../evidence/policies.ts'
import { pointerStep } from '../normalize/changed-fields.ts'
import { canonicalJson, indexable, type Json, sha256 } from '../normalize/hash.ts'
import type { Prepared } from '../normalize/prepare.ts'

/*
 * Fields that the program does not know are in `extra`, and another value is another version. One that moves with nearly every response
 * would make a version of every record each time: it is volatile, its latest value is kept in the current version, and it makes none.
 */

/** Paths of unknown fields that are volatile, and those that are so since this response. */
export interface VolatilePaths {
  readonly all: ReadonlySet<string>
  readonly begun: ReadonlySet<string>
}

export const noneVolatile: VolatilePaths = { all: new Set(), begun: new Set() }

/** An entity that differs from its current version, and what that has in its `extra` column. */
export interface ExtraChange {
  readonly entity: Prepared
  readonly extra: Json
}

type Place = readonly (string | number)[]

/** From which share (0..1) of the records that have a field on its moving is not one of few. */
const MASS_SHARE = 0.5

/** In the value of a claim: the field moved in few of the records. */
const inFew = ' in few records'

/**
 * Where a field and those beside it stand, whatever they are called. Under names that were never seen before, response after response, no
 * field moves twice, but what is there does.
 */
const besides = (path: string) => `${path.slice(0, path.lastIndexOf('/'))}/*`

/**
 * Makes the function that judges which unknown fields are volatile: those that moved in enough responses. Of a worklist responses about
 * one key are counted, and a field that is volatile for several keys is so for all.
 * @param lastSeen the instant that the last accepted response speaks for
 * @param scope key of a worklist that the response is about
 */
export function volatileJudge(sql: Sql, witness: Witness, lastSeen: Date | null, scope = '') {
  return async (entities: readonly Prepared[], changes: readonly ExtraChange[]): Promise<VolatilePaths> => {
    if (changes.length === 0) return noneVolatile
    const subjects = [...new Set(['', scope])]
    const policies = policiesOf(witness.guards)
    const policyOf = (value: string) => (value.endsWith(inFew) ? 'volatile in few records' : 'volatile')
    const isConfirmed = ({ value, times }: { readonly value: string; readonly times: number }) =>
      times >= policies[policyOf(value)].responses
    const known = await claimsAbout(sql, witness.resource, 'volatile', subjects)
    const over = known.filter((claim) => isOver(witness, lastSeen, claim, isConfirmed(claim)))
    if (over.length > 0) reach('way out: a volatile field that was calm is like others')
    await forgetClaims(sql, witness.resource, 'volatile', over)
    const standing = known.filter((claim) => !over.includes(claim) && isConfirmed(claim))
    const before = new Set(standing.map(({ value }) => pathOf(value)))
    const ofAll = new Set(standing.flatMap(({ subject, value }) => (subject === '' ? [pathOf(value)] : [])))
    const moves = movesIn(entities, changes, before, new Set(known.map(({ value }) => pathOf(value))))
    const all = new Set(before)
    for (const subject of subjects.toReversed()) {
      for (const values of [
        moves.filter((value) => !value.endsWith(inFew)),
        moves.filter((one) => one.endsWith(inFew)),
      ]) {
        // For all keys it is volatile where it has become so for several; each counts once.
        const counts = (value: string) =>
          ofAll.has(pathOf(value)) || (all.has(pathOf(value)) && !before.has(pathOf(value)))
        const made = subject === scope ? values : values.filter(counts)
        const [first] = made
        if (first === undefined) continue
        const claims = made.map((value) => ({ subject, value }))
        const { confirmed } = await corroborate(sql, witness, 'volatile', claims, policyOf(first))
        for (const { value } of confirmed) all.add(pathOf(value))
      }
    }
    return { all, begun: new Set([...all].filter((path) => !before.has(path))) }
  }
}

const pathOf = (value: string) => (value.endsWith(inFew) ? value.slice(0, -inFew.length) : value)

/** Whether the field has been calm for so long that what moved it before counts no more. */
function isOver(
  { at, receivedAt, cacheSeconds }: Witness,
  lastSeen: Date | null,
  claim: { readonly value: string; readonly lastAt: Date; readonly lastReceivedAt: Date },
  isConfirmed: boolean,
): boolean {
  const calm = isConfirmed ? CALM_TIME.confirmed : CALM_TIME.pending
  const { lastAt, lastReceivedAt, value } = claim
  // The last response did not move it.
  const isCalm = lastSeen !== null && lastAt.getTime() < lastSeen.getTime() - 2000 * cacheSeconds
  const isLong = at.getTime() - lastAt.getTime() > calm && receivedAt.getTime() - lastReceivedAt.getTime() > calm
  // A few records of many change now and then.
  return isCalm && (isLong || (!isConfirmed && value.endsWith(inFew)))
}

/**
 * The values of claims about the unknown fields that moved.
 * @param known paths that are volatile already
 * @param claimed paths that have moved before
 */
function movesIn(
  entities: readonly Prepared[],
  changes: readonly ExtraChange[],
  known: ReadonlySet<string>,
  claimed: ReadonlySet<string>,
): readonly string[] {
  const had = new Map<string, number>()
  const count = (counts: Map<string, number>, path: string) => counts.set(path, (counts.get(path) ?? 0) + 1)
  for (const { extra } of entities) {
    const paths = extra.map((field) => field.path)
    for (const path of new Set([...paths, ...paths.map(besides)])) count(had, path)
  }
  const isSent = new Set(entities.flatMap(({ extra }) => extra.map(({ path }) => indexable(path))))
  const paths = new Set([...isSent, ...[...known].filter((path) => isSent.has(path) || !path.endsWith('/*'))])
  const moved = new Map<string, number>()
  for (const { entity, extra } of changes) {
    const now = valuesAt(entity)
    const before = storedAt(extra, paths)
    const places = new Set<string>()
    for (const path of paths) {
      if (textOf(now.get(path)) === textOf(before.get(path))) continue
      const place = indexable(besides(path))
      if (!known.has(place) || path === place) count(moved, path)
      if (now.has(path) && !before.get(path)?.length && !claimed.has(path)) places.add(place)
    }
    for (const place of places) if (!paths.has(place)) count(moved, place)
  }
  return [...moved].flatMap(([path, times]) =>
    times >= MASS_SHARE * (had.get(path) ?? 0) ? [path, path + inFew] : path + inFew,
  )
}

interface Value {
  readonly place: Place
  readonly value: Json
}

const textOf = (values: readonly Value[] = []) =>
  values
    .map(({ place, value }) => JSON.stringify(place.map(String)) + canonicalJson(value))
    .sort()
    .join('\n')

function valuesAt({ extra }: Prepared): Map<string, Value[]> {
  const values = new Map<string, Value[]>()
  for (const { path, place, value } of extra) {
    const at = indexable(path)
    values.set(at, [...(values.get(at) ?? []), { place, value: value as Json }])
  }
  return values
}

/** What an `extra` column has at these paths, where `*` stands for any step. */
function storedAt(extra: Json, paths: ReadonlySet<string>): Map<string, Value[]> {
  return new Map([...paths].map((path) => [path, storedIn(extra, path.split('/').slice(1), [])]))
}

function storedIn(value: Json, [step, ...rest]: readonly string[], place: Place): Value[] {
  if (step === undefined) return [{ place, value }]
  if (!isFields(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    step === '*' || pointerStep(name) === `/${step}` ? storedIn(inner as Json, rest, [...place, name]) : [],
  )
}

/**
 * Whether an entity differs from its current version only in volatile fields: with their former values it has the same hash. A known field
 * that came in a form of its own has such a path, too: where it is back in its known form, that is a change.
 */
export function differsOnlyIn(
  volatile: ReadonlySet<string>,
  entity: Prepared,
  { hash, extra }: { readonly hash: Uint8Array; readonly extra: Json },
): boolean {
  if (volatile.size === 0) return false
  const known = replaced(JSON.parse(entity.documentText) as Json, volatileOf(entity, volatile), [])
  const before = [...storedAt(extra, volatile)].flatMap(([path, values]) =>
    // What is known there is around others, or in its known form again: then the hash differs.
    path.endsWith('/*') ? values.filter(({ place }) => !isIn(known, place)) : values,
  )
  if (before.some(({ place }) => isIn(known, place))) return false
  return sha256(canonicalJson(replaced(known, [], before))).equals(hash)
}

/** A former document with the volatile fields of a later one: they are no change. @param extra what it has in its `extra` column */
export function withVolatileOf(entity: Prepared, before: Json, extra: Json, volatile: ReadonlySet<string>): Json {
  if (volatile.size === 0) return before
  const now = volatileOf(entity, volatile)
  const known = replaced(JSON.parse(entity.documentText) as Json, now, [])
  const former = [...storedAt(extra, volatile).values()].flat().filter(({ place }) => !isIn(known, place))
  const without = replaced(before, former, [])
  return replaced(
    without,
    [],
    now.filter(({ place }) => !isIn(without, place)),
  )
}

const volatileOf = (entity: Prepared, volatile: ReadonlySet<string>) =>
  [...valuesAt(entity)].flatMap(([path, values]) =>
    volatile.has(path) || volatile.has(indexable(besides(path))) ? values : [],
  )

/** Whether a document has a value at a place. */
function isIn(document: Json, place: Place): boolean {
  let at: unknown = document
  for (const step of place) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return false
    at = Reflect.get(at, step)
  }
  return true
}

/** A document without some values, and with others where what is around them is there. */
function replaced(document: Json, without: readonly Value[], added: readonly Value[]): Json {
  const whole = structuredClone(document)
  const around = (place: Place): unknown =>
    place
      .slice(0, -1)
      .reduce<unknown>((at, step) => (at !== null && typeof at === 'object' ? Reflect.get(at, step) : undefined), whole)
  for (const { place } of without) {
    const at = around(place)
    if (at !== null && typeof at === 'object') Reflect.deleteProperty(at, place.at(-1) ?? '')
  }
  for (const { place, value } of added) {
    const at = around(place)
    const name = place.at(-1)
    if (at !== null && typeof at === 'object' && name !== undefined)
      Object.defineProperty(at, name, { value, configurable: true, enumerable: true, writable: true })
  }
  return whole
}
