import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { verification } from '../tables/verification.ts'
import type { Verified } from './verify.ts'

/** What a verification found, for people who look later. */
export interface Verification {
  readonly at: Date
  readonly seconds: number
  readonly checks: number
  readonly wrong: number
  readonly found: readonly { readonly check: string; readonly table: string; readonly wrong: number }[]
}

/** Records what a verification found, in place of what the last one did. */
export async function recordVerification(
  sql: Sql,
  checks: readonly Verified[],
  { at, seconds }: Pick<Verification, 'at' | 'seconds'>,
): Promise<Verification> {
  const found = checks.filter(({ wrong }) => wrong > 0).map(({ check, table, wrong }) => ({ check, table, wrong }))
  const wrong = found.reduce((sum, one) => sum + one.wrong, 0)
  const row = { at, seconds, checks: checks.length, wrong, found }
  await typed(sql)
    .insert(verification)
    .values({ id: 0, ...row })
    .onConflictDoUpdate({ target: verification.id, set: row })
  return row
}

/** What the last verification found; undefined before the first. */
export async function lastVerification(sql: Sql): Promise<Verification | undefined> {
  const [row] = await sql.query<Verification>('select at, seconds, checks, wrong, found from sync.verification')
  return row
}

/** What it found in a line for people. */
export function foundText({ found }: Pick<Verification, 'found'>): string {
  return found.map(({ check, table, wrong }) => `${check} ${table}: ${wrong}`).join(', ')
}
