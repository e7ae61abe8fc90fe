import type { Sql } from '../../db/database.ts'
import type { History, RelatedHistory } from '../declare/resource.ts'
import { corroborate, forgetClaims, mayClaim, pendingClaims, type Witness } from '../evidence/claims.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { historySql } from '../sql/history-sql.ts'
import { findAbsent } from './missing-keys.ts'
import type { IncomingResponse } from './validate-response.ts'

interface Come {
  /** What the response shows of the history. */
  readonly came: readonly Prepared[]
  /** Whether what the response lacks is not there. */
  readonly isWhole: boolean
  /** Of a related history, as roots name it whose part of it is not whole. */
  readonly name?: string
}

/**
 * A record that cannot be read shows nothing: the version of its key stays, and is known until then. Once enough responses agree, a row of
 * sync.unread says so, until a response shows the key. What a whole response lacks is neither; what another one lacks may be there, and
 * counts as not read. Of a history that has the keys of its root, a record that does not say what that has of it is one, too.
 */
export async function judgeUnread(
  sql: Sql,
  witness: Witness,
  history: History | RelatedHistory,
  come: Come,
  response: IncomingResponse,
): Promise<void> {
  const { preparation, scope, fields } = response
  const { entities, quarantined } = preparation
  const { came } = come
  const hasKeysOfRoot = 'absence' in history && history.absence === 'with-root'
  const lacked = await findLacked(sql, witness, history, come, response)
  const isRead = quarantined.length === 0 && !(hasKeysOfRoot && came.length < entities.length)
  if (isRead && lacked.length === 0 && !fields.hasUnread && !mayClaim(witness, 'unread')) return
  const shown = new Set(came.map(({ key }) => key))
  const named = [
    ...quarantined.flatMap(({ key }) => key ?? []),
    ...(hasKeysOfRoot ? entities.map(({ key }) => key) : []),
    ...lacked,
  ]
  const keys = new Set(named.filter((key) => !shown.has(key)))
  const pending = await pendingClaims(sql, witness, 'unread', scope)
  const open = new Set(fields.hasUnread ? await openKeys(sql, witness.resource, scope) : [])
  const current = await currentAmong(sql, history, [...keys, ...open, ...pending.map(({ subject }) => subject)])
  const isOver = (key: string) => shown.has(key) || !current.has(key)
  await endUnread(sql, witness, [...open].filter(isOver))
  await forgetClaims(
    sql,
    witness.resource,
    'unread',
    pending.filter(({ subject }) => isOver(subject)),
  )
  const claims = [...keys].flatMap((key) => (current.has(key) && !open.has(key) ? [{ subject: key }] : []))
  const { confirmed } = await corroborate(sql, witness, 'unread', claims)
  if (confirmed.length === 0) return
  await sql.query(
    `insert into sync.unread (resource, key, from_at, run_id)
     select $1, began.key, began.at, $2 from unnest($3::text[], $4::timestamptz[]) as began(key, at) on conflict do nothing`,
    [witness.resource, witness.runId, confirmed.map(({ subject }) => subject), confirmed.map(({ firstAt }) => firstAt)],
  )
}

/** Current keys that the response does not have, would have, and that may be there. */
async function findLacked(
  sql: Sql,
  { at }: Witness,
  history: History | RelatedHistory,
  { came, isWhole, name = '' }: Come,
  { extraction: { covers = () => true }, preparation: { entities, quarantined, seen }, last }: IncomingResponse,
): Promise<readonly string[]> {
  const isOwn = 'absence' in history && history.absence === 'own'
  const isNamed = quarantined.every(({ key }) => key !== undefined)
  const flawed = entities.filter(({ incomplete }) => !isNamed || incomplete?.includes(name))
  const scopes = isOwn ? flawed.map(({ key }) => key) : isWhole ? [] : [undefined]
  // The first response is where history begins.
  if (last === undefined || scopes.length === 0) return []
  const all = new Set([...seen, ...came.map(({ key }) => key), ...quarantined.flatMap(({ key }) => key ?? [])])
  const lacked: string[] = []
  for (const scope of scopes)
    for (const { key, isLater } of await findAbsent(sql, history, { seen: all, at, scope }))
      if (!isLater && covers(key)) lacked.push(key)
  return lacked
}

async function openKeys(sql: Sql, resource: string, scope: string | undefined): Promise<string[]> {
  const scoped = scope === undefined ? '' : `and (key = $2 or starts_with(key, $2 || '/'))`
  const rows = await sql.query<{ key: string }>(
    `select key from sync.unread where resource = $1 and until_at is null ${scoped}`,
    scope === undefined ? [resource] : [resource, scope],
  )
  return rows.map(({ key }) => key)
}

async function currentAmong(sql: Sql, history: History, keys: readonly string[]): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set()
  const { table, keyText } = historySql(history)
  const rows = await sql.query<{ key: string }>(
    `select ${keyText('version')} as key from ${table.name} version
      where version.valid_until = 'infinity' and ${keyText('version')} = any($1::text[])`,
    [keys],
  )
  return new Set(rows.map(({ key }) => key))
}

async function endUnread(sql: Sql, { resource, at }: Witness, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await sql.query(
    `update sync.unread set until_at = greatest($3, from_at)
      where resource = $1 and until_at is null and key = any($2::text[])`,
    [resource, keys, at],
  )
}
