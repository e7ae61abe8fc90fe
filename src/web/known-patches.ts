import type { Sql } from '../db/database.ts'
import { type AllPatches, allPatches } from '../drawing/patch/patch-changes.ts'

/** Every patch, the last one first. */
export type PatchesOf = (sql: Sql) => Promise<AllPatches['patches']>

/** Counts patches anew only where something changed since the last time. */
export function knownPatches(): PatchesOf {
  let known: AllPatches | undefined
  return async (sql) => {
    known = await allPatches(sql, known)
    return known.patches
  }
}
