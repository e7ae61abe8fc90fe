import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import { and, eq, notExists, sql as text } from 'drizzle-orm'
import { parseJson } from '../../api/schemas/form/bodies.ts'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import { sha256 } from '../normalize/hash.ts'
import { rawAnswer, rawBody } from '../tables/archive.ts'

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/**
 * Compresses what the API sent. Measured on recorded responses: brotli at 5 takes the time of gzip at 6 (0.8 ms for a map of
 * 83 kB, 43 ms for a catalogue of 5.4 MB) and 5 % less room, of the catalogue 28 % less; at 9 it takes ten times as long for
 * 1 to 15 % more.
 */
export async function compressed(body: Uint8Array): Promise<Buffer> {
  return await (ahead.get(body) ?? compressNow(body))
}

const ahead = new WeakMap<Uint8Array, Promise<Buffer>>()

/**
 * Begins to compress a body that is stored later: another thread does it meanwhile. Of thousands of versions of a catalogue of 5.4 MB,
 * brotli at 4 takes 54 ms each instead of 145, and 16 % more room.
 */
export function compressAhead(body: Uint8Array): void {
  const compressing = compressNow(body, AHEAD)
  ahead.set(body, compressing)
  // An error is thrown where it is awaited.
  compressing.catch(() => undefined)
}

const { BROTLI_PARAM_QUALITY: QUALITY, BROTLI_PARAM_LGWIN: WINDOW, BROTLI_PARAM_SIZE_HINT: HINT } = constants
const AHEAD = { [QUALITY]: 4, [WINDOW]: 20 }

async function compressNow(body: Uint8Array, params: Readonly<Record<number, number>> = { [QUALITY]: 5 }) {
  // In a few pieces: each 16 kB of thousands of bodies would come as one.
  const chunkSize = Math.min(1_048_576, 16_384 + (body.length >> 3))
  return await compress(body, { chunkSize, params: { ...params, [HINT]: body.length } })
}

export async function decompressed(body: Uint8Array): Promise<Buffer> {
  return await decompress(body)
}

/** Stores each of the bodies that is not there yet. Returns their hashes in the same order. */
export async function storeBodies(sql: Sql, bodies: readonly Uint8Array[], firstAt: Date): Promise<Buffer[]> {
  const hashes = bodies.map((body) => sha256(body))
  const known = await typed(sql).select({ hash: rawBody.hash }).from(rawBody).where(anyOf(rawBody.hash, hashes))
  const stored = new Set(known.map(({ hash }) => Buffer.from(hash).toString('hex')))
  const fresh = bodies.map((body, nth) => ({ body, hash: hashes[nth] ?? sha256(body) }))
  const rows = await Promise.all(
    fresh
      .filter(({ hash }) => !stored.has(hash.toString('hex')))
      .map(async ({ body, hash }) => ({ hash, body: await compressed(body), bytes: body.length, firstAt })),
  )
  if (rows.length > 0) await typed(sql).insert(rawBody).values(rows).onConflictDoNothing()
  return hashes
}

/** Deletes those of the bodies that no archived response refers to. */
export async function deleteUnusedBodies(sql: Sql, hashes: readonly Uint8Array[]): Promise<void> {
  const db = typed(sql)
  const users = db.select({ one: text`1` }).from(rawAnswer).where(eq(rawAnswer.hash, rawBody.hash))
  await db.delete(rawBody).where(and(anyOf(rawBody.hash, hashes), notExists(users)))
}

export interface BodyReference {
  readonly answerId: number
  readonly position: number
  readonly hash: Uint8Array
}

/**
 * Rewrites a body for the archived responses that share it, under its new hash.
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
  const [kept] = await typed(sql).select().from(rawBody).where(eq(rawBody.hash, hash))
  if (!kept) return false
  const before = (await decompressed(kept.body)).toString('utf8')
  const body = parseJson(before)
  const outcome = change(body, before)
  if (outcome === 'same') return false
  const ids = references.map(({ answerId }) => answerId)
  const positions = references.map(({ position }) => position)
  const isReference = text`(${rawAnswer.answerId}, ${rawAnswer.position}) in
    (select * from unnest(${text.param(ids)}::int8[], ${text.param(positions)}::int2[]))`
  if (outcome === 'nothing') await typed(sql).delete(rawAnswer).where(isReference)
  else {
    const [after] = await storeBodies(sql, [Buffer.from(JSON.stringify(body))], kept.firstAt)
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
