import { UsageError } from '../../app/errors.ts'
import type { Database } from '../../db/database.ts'

const day = 86_400_000

/** Rows removed in one transaction: answers that arrive wait for it. */
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
 * Removes raw answers that are older than their retention, and bodies that no answer has any more.
 * @param options.days by resource; what is not in it is kept for ever
 * @returns answers removed
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
  const due = await db.query('select from sync.raw_answer where resource = $1 and taken_at < $2 limit 1', [
    resource,
    before,
  ])
  if (due.length === 0) return 0
  return await db.transaction(async (sql) => {
    // An answer on its way may be about to refer to a body that nobody else has.
    await sql.query('lock table sync.raw_answer in share row exclusive mode')
    const gone = await sql.query<{ hash: Uint8Array }>(
      `delete from sync.raw_answer where (answer_id, position) in
         (select answer_id, position from sync.raw_answer where resource = $1 and taken_at < $2
           order by taken_at limit $3)
       returning hash`,
      [resource, before, batch],
    )
    await sql.query(
      `delete from sync.raw_body body where hash = any($1::bytea[])
          and not exists (select from sync.raw_answer other where other.hash = body.hash)`,
      [gone.map(({ hash }) => hash)],
    )
    return gone.length
  })
}
