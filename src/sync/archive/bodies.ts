import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import { and, eq, notExists, sql as text } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { parseJson } from '../../api/schemas/form/bodies.ts'
import { isFields } from '../../api/schemas/form/unknown.ts'
import { addRedacted } from '../../api/schemas/people/redacted.ts'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import { sha256 } from '../normalize/hash.ts'
import { deepJson } from '../normalize/nesting.ts'
import { rawAnswer, rawBody } from '../tables/archive.ts'

/** So many differences make the changes of a body; of more it is stored whole. */
const MOST_DIFFERENCES = 2000

/** The inserted bytes of a body may be such a share of it. */
const INSERTED_SHARE = 1 / 16

/** How many bytes have to be the same where two bodies go on together again, and how far from there that is looked for, in steps. */
const PROBE_BYTES = 32
const STEP_BYTES = 32
const NEAR_BYTES = 4096
const FAR_BYTES = 65_536

/** Shorter ones are not worth it. */
const SHORTEST_BYTES = 100_000

/** So often it is looked for far away. */
const FAR_SEARCHES = 16

/** Numbers of a difference: where the bytes before it begin in the other body, how many these are, and how many new ones follow. */
const NUMBERS_OF_DIFFERENCE = 3

/** Whether a body is long enough for changes. */
function mayBeChanged(body: Uint8Array): boolean {
  return body.length >= SHORTEST_BYTES
}

/**
 * A body as changes of another one: that, with a few pieces of its own, makes it again. Of versions of a long list, whose records are
 * mostly the same and in the same order, changes take a hundredth of the bytes.
 * @returns undefined where it is not much shorter than the body
 */
export function changesOf(base: Buffer, body: Buffer): Buffer | undefined {
  if (!mayBeChanged(body)) return undefined
  const numbers: number[] = []
  const inserted: Buffer[] = []
  let from = 0
  let at = 0
  let size = 0
  let far = 0
  while (at < body.length) {
    const same = sameBytes(base, from, body, at)
    const next = { from: from + same, at: at + same }
    const near = next.at === body.length ? next : goesOn(base, body, next, NEAR_BYTES)
    const again = near ?? (far++ < FAR_SEARCHES ? goesOn(base, body, next, FAR_BYTES) : undefined)
    const own = again ? again.at - next.at : body.length - next.at
    size += own
    if (size > INSERTED_SHARE * body.length || numbers.length >= NUMBERS_OF_DIFFERENCE * MOST_DIFFERENCES)
      return undefined
    numbers.push(from, same, own)
    inserted.push(body.subarray(next.at, next.at + own))
    from = again?.from ?? base.length
    at = next.at + own
  }
  const head = Buffer.alloc(4 * (1 + numbers.length))
  for (const [nth, number] of [numbers.length / NUMBERS_OF_DIFFERENCE, ...numbers].entries())
    head.writeUInt32LE(number, 4 * nth)
  return Buffer.concat([head, ...inserted])
}

/** The body that changes were made of. @throws RangeError where they are not changes of that base */
export function changedBody(base: Buffer, changes: Buffer): Buffer {
  const count = changes.readUInt32LE(0)
  const parts: Buffer[] = []
  let own = 4 * (1 + NUMBERS_OF_DIFFERENCE * count)
  const piece = (of: Buffer, start: number, length: number) => {
    if (start + length > of.length) throw new RangeError('changes of another body')
    parts.push(of.subarray(start, start + length))
  }
  for (let nth = 0; nth < count; nth++) {
    const [from, same, added] = [0, 1, 2].map((one) =>
      changes.readUInt32LE(4 * (1 + NUMBERS_OF_DIFFERENCE * nth + one)),
    )
    piece(base, from ?? 0, same ?? 0)
    piece(changes, own, added ?? 0)
    own += added ?? 0
  }
  return Buffer.concat(parts)
}

/** How many bytes of both are the same from there on. */
function sameBytes(base: Buffer, from: number, body: Buffer, at: number): number {
  const most = Math.min(base.length - from, body.length - at)
  let same = 0
  let isGrowing = true
  for (let step = 64; step > 0; step = isGrowing ? step * 2 : step >> 1) {
    const end = same + step
    const isSame = end <= most && body.compare(base, from + same, from + end, at + same, at + end) === 0
    if (isSame) same = end
    else isGrowing = false
  }
  return same
}

/** Where both go on together after a difference; undefined where that is not found so many bytes from there. */
function goesOn(base: Buffer, body: Buffer, { from, at }: { readonly from: number; readonly at: number }, far: number) {
  const there = base.subarray(from, from + far)
  for (let own = 0; own < far && at + own + PROBE_BYTES <= body.length; own += STEP_BYTES) {
    const found = there.indexOf(body.subarray(at + own, at + own + PROBE_BYTES))
    if (found < 0) continue
    // The probe need not begin where the difference ends.
    let back = 0
    while (back < own && back < found && there[found - back - 1] === body[at + own - back - 1]) back++
    return { from: from + found - back, at: at + own - back }
  }
  return undefined
}

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/** How a body is stored: compressed, as it is or as changes of another one. */
interface Prepared {
  readonly hash: Buffer
  readonly body: Promise<Buffer>
  readonly base: Buffer | null
  /** Makes it what later versions are changes of. */
  readonly becomeBase: () => void
}

const ahead = new WeakMap<Uint8Array, Prepared>()

/** Of so many requests a version is remembered, which bounds the memory. */
const REMEMBERED_REQUESTS = 4

/**
 * Begins to compress bodies that are stored later, one version of a response after the other: another thread does it meanwhile. Of
 * thousands of versions of a catalogue of 5.4 MB, brotli at 4 takes 54 ms each instead of 145, and 16 % more room; most are stored as
 * changes of an earlier one, in a hundredth of that.
 */
export class VersionsAhead {
  /** What later versions may be changes of, by request. */
  readonly #bases = new Map<string, { hash: Buffer; text: Buffer; readonly memory: (length: number) => Buffer }>()
  readonly #newMemory: () => (length: number) => Buffer

  /** @param newMemory makes what gives memory for one version, and the same for the next one of that request */
  constructor(newMemory: () => (length: number) => Buffer) {
    this.#newMemory = newMemory
  }

  /** @param request of which it is a version; undefined where it is to stand alone */
  compress(text: Uint8Array, request: string | undefined): void {
    const body = Buffer.from(text.buffer, text.byteOffset, text.byteLength)
    // While the database has the response before: to hash megabytes takes as long as a statement.
    const hash = sha256(body)
    const base = request === undefined ? undefined : this.#bases.get(request)
    const changes = base && changesOf(base.text, body)
    const becomeBase = () => {
      const isOneMore = request !== undefined && (this.#bases.has(request) || this.#bases.size < REMEMBERED_REQUESTS)
      if (!isOneMore || !mayBeChanged(body)) return
      const memory = this.#bases.get(request)?.memory ?? this.#newMemory()
      // A copy: the memory of the body is that of a later one, perhaps.
      const text = memory(body.length)
      body.copy(text)
      this.#bases.set(request, { hash, text, memory })
    }
    if (changes === undefined) becomeBase()
    const stored = {
      hash,
      body: compressed(changes ?? body, AHEAD),
      base: changes && base ? base.hash : null,
      becomeBase,
    }
    ahead.set(text, stored)
    // An error is thrown where it is awaited.
    stored.body.catch(() => undefined)
  }
}

const { BROTLI_PARAM_QUALITY: QUALITY, BROTLI_PARAM_LGWIN: WINDOW, BROTLI_PARAM_SIZE_HINT: HINT } = constants
const AHEAD = { [QUALITY]: 4, [WINDOW]: 20 }

/**
 * Compresses what the API sent. Measured on recorded responses: brotli at 5 takes the time of gzip at 6 (0.8 ms for a map of
 * 83 kB, 43 ms for a catalogue of 5.4 MB) and 5 % less room, of the catalogue 28 % less; at 9 it takes ten times as long for
 * 1 to 15 % more.
 */
export async function compressed(body: Uint8Array, params: Readonly<Record<number, number>> = { [QUALITY]: 5 }) {
  // In a few pieces: each 16 kB of thousands of bodies would come as one.
  const chunkSize = Math.min(1_048_576, 16_384 + (body.length >> 3))
  return await compress(body, { chunkSize, params: { ...params, [HINT]: body.length } })
}

export async function decompressed(body: Uint8Array): Promise<Buffer> {
  return await decompress(body)
}

/** A body as it is stored, with that of its base, compressed. */
export interface StoredBody {
  readonly hash: Uint8Array
  readonly body: Uint8Array
  /** Null: it stands alone. */
  readonly baseBody: Uint8Array | null
}

/** SQL of `StoredBody` for rows of `sync.raw_body` under its own name, and the join that it needs. */
export const STORED_BODY = {
  columns: 'raw_body.hash, raw_body.body, base.body as "baseBody"',
  join: 'left join sync.raw_body base on base.hash = raw_body.base',
} as const

/** The text of a body, from its changes where it has a base. What brotli unpacks is not checked: a flipped bit may give another text. */
export async function textOfBody({ body, baseBody }: Omit<StoredBody, 'hash'>): Promise<Buffer> {
  const text = await decompress(body)
  return baseBody === null ? text : changedBody(await decompress(baseBody), text)
}

/** The hashes of bodies, in the same order, and rows of those that are not stored yet. @param areOften they may well be stored: others are not looked up */
export async function freshBodies(
  sql: Sql,
  bodies: readonly Uint8Array[],
  firstAt: Date,
  { areOften }: { readonly areOften: boolean },
): Promise<{ readonly hashes: Buffer[]; readonly rows: (typeof rawBody.$inferInsert)[] }> {
  const hashes = bodies.map((body) => ahead.get(body)?.hash ?? sha256(body))
  const bases = bodies.flatMap((body) => ahead.get(body)?.base ?? [])
  const wanted = anyOf(rawBody.hash, [...hashes, ...bases])
  const isLookedUp = areOften || bases.length > 0
  const known = isLookedUp ? await typed(sql).select({ hash: rawBody.hash }).from(rawBody).where(wanted) : []
  const stored = new Set(known.map(({ hash }) => Buffer.from(hash).toString('hex')))
  const isStored = (hash: Buffer) => stored.has(hash.toString('hex'))
  const fresh = bodies.map((body, nth) => ({ text: body, hash: hashes[nth] ?? sha256(body) }))
  const rows = await Promise.all(
    fresh
      .filter(({ hash }) => !isStored(hash))
      .map(async ({ text, hash }) => {
        const prepared = ahead.get(text)
        const row = { hash, bytes: text.length, firstAt }
        const isWhole = !prepared?.base || isStored(prepared.base)
        if (prepared && isWhole) return { ...row, body: await prepared.body, base: prepared.base }
        // What it differs from was not archived, or is there no longer.
        prepared?.becomeBase()
        return { ...row, body: await compressed(text), base: null }
      }),
  )
  return { hashes, rows }
}

/** Stores bodies that are not there yet. */
export function insertBodies(sql: Sql, rows: (typeof rawBody.$inferInsert)[]) {
  return typed(sql).insert(rawBody).values(rows).onConflictDoNothing()
}

/** Deletes those of the bodies that no archived response refers to, and no body that differs from them. */
export async function deleteUnusedBodies(sql: Sql, hashes: readonly Uint8Array[]): Promise<void> {
  const db = typed(sql)
  const users = db.select({ one: text`1` }).from(rawAnswer).where(eq(rawAnswer.hash, rawBody.hash))
  const other = alias(rawBody, 'other')
  const changed = db.select({ one: text`1` }).from(other).where(eq(other.base, rawBody.hash))
  const removed = await db
    .delete(rawBody)
    .where(and(anyOf(rawBody.hash, hashes), notExists(users), notExists(changed)))
    .returning({ base: rawBody.base })
  // What they differed from was perhaps kept for them alone; it has no base itself.
  const bases = removed.flatMap(({ base }) => base ?? [])
  if (bases.length > 0) await deleteUnusedBodies(sql, bases)
}

export interface BodyReference {
  readonly answerId: number
  readonly position: number
  readonly hash: Uint8Array
}

/**
 * Rewrites a body for the archived responses that share it, under its new hash. Of one that is damaged nothing can be removed but all.
 * @param change changes the parsed body in place and returns what became of it; `undefined` for a body that is no JSON
 * @returns whether it is another one now, or deleted
 */
export async function rewriteBody(
  sql: Sql,
  references: readonly BodyReference[],
  change: (body: unknown, text: string) => 'same' | 'other' | 'nothing',
): Promise<boolean> {
  const hash = references[0]?.hash
  if (!hash) return false
  const [kept] = await sql.query<StoredBody & { firstAt: Date }>(
    `select ${STORED_BODY.columns}, raw_body.first_at as "firstAt" from sync.raw_body ${STORED_BODY.join} where raw_body.hash = $1`,
    [hash],
  )
  if (!kept) return false
  const read = await textOfBody(kept).catch(() => undefined)
  const before = read && sha256(read).equals(kept.hash) ? read.toString('utf8') : undefined
  const body = before === undefined ? undefined : parseJson(before)
  const outcome = before === undefined ? 'nothing' : change(body, before)
  if (outcome === 'same') return false
  const ids = references.map(({ answerId }) => answerId)
  const positions = references.map(({ position }) => position)
  const isReference = text`(${rawAnswer.answerId}, ${rawAnswer.position}) in
    (select * from unnest(${text.param(ids)}::int8[], ${text.param(positions)}::int2[]))`
  if (outcome === 'nothing') await typed(sql).delete(rawAnswer).where(isReference)
  else {
    if (isFields(body)) addRedacted(body, {})
    const { hashes, rows } = await freshBodies(sql, [Buffer.from(deepJson(body))], kept.firstAt, {
      areOften: true,
    })
    if (rows.length > 0) await insertBodies(sql, rows)
    const [after] = hashes
    await typed(sql).update(rawAnswer).set({ hash: after }).where(isReference)
  }
  await deleteUnusedBodies(sql, [hash])
  return true
}

/** Archived responses that share a body, and whatever else the name says. */
export function grouped<Reference extends BodyReference>(
  references: readonly Reference[],
  nameOf: (reference: Reference) => unknown = () => '',
): Reference[][] {
  const groups = new Map<string, Reference[]>()
  for (const one of references) {
    const name = `${Buffer.from(one.hash).toString('base64')} ${nameOf(one)}`
    groups.set(name, [...(groups.get(name) ?? []), one])
  }
  return [...groups.values()]
}
