import { and, eq, lt, sql as text } from 'drizzle-orm'
import { UsageError } from '../../base/errors.ts'
import type { Database } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { rawAnswer } from '../tables/archive.ts'
import { deleteUnusedBodies } from './bodies.ts'

const day = 86_400_000

/** Rows removed in one transaction: responses that arrive meanwhile wait for it. */
const batch = 2000

/** Days of every resource that has a retention: as configured, else as declared. @throws UsageError for an unknown resource */
export function rawDays(
  resources: readonly { readonly name: string; readonly rawDays?: number }[],
  configured: Readonly<Record<string, number>>,
): Record<string, number> {
  const unknown = Object.keys(configured).filter((name) => !resources.some((one) => one.name === name))
  if (unknown.length > 0) throw new UsageError(`WYNNSYNC_RAW_DAYS: no resource is called ${unknown.join(', ')}`)
  const declared = resources.flatMap(({ name, rawDays: days }) => (days === undefined ? [] : [[name, days] as const]))
  return { ...Object.fromEntries(declared), ...configured }
}

/**
 * Removes archived responses that are older than their retention, and bodies that no response has any more.
 * @param options.days by resource; what is not in it is kept for ever
 * @returns archived responses removed
 */
export async function expireRaw(
  db: Database,
  { days, now }: { readonly days: Readonly<Record<string, number>>; readonly now: number },
): Promise<number> {
  let removed = 0
  for (const [resource, kept] of Object.entries(days)) {
    if (kept === Number.POSITIVE_INFINITY) continue
    const before = new Date(now - kept * day)
    for (let last = batch; last === batch; removed += last) last = await expireSome(db, resource, before)
  }
  return removed
}

async function expireSome(db: Database, resource: string, before: Date): Promise<number> {
  const isDue = and(eq(rawAnswer.resource, resource), lt(rawAnswer.takenAt, before))
  const due = await typed(db).select({ at: rawAnswer.takenAt }).from(rawAnswer).where(isDue).limit(1)
  if (due.length === 0) return 0
  return await db.transaction(async (sql) => {
    // A response that is being loaded may be about to refer to a body that no other has.
    await sql.query('lock table sync.raw_answer in share row exclusive mode')
    const { answerId, position } = rawAnswer
    const oldest = typed(sql)
      .select({ answerId, position })
      .from(rawAnswer)
      .where(isDue)
      .orderBy(rawAnswer.takenAt)
      .limit(batch)
    const removed = await typed(sql)
      .delete(rawAnswer)
      .where(text`(${answerId}, ${position}) in ${oldest}`)
      .returning({ hash: rawAnswer.hash })
    const hashes = removed.map(({ hash }) => hash)
    await deleteUnusedBodies(sql, hashes)
    return removed.length
  })
}
