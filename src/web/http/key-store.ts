import { createHash, randomBytes } from 'node:crypto'
import type { Sql } from '../../db/database.ts'

interface WebKey {
  readonly name: string
  readonly createdAt: Date
}

/** Makes a key and keeps its hash. @returns the key, which nothing can tell again; undefined when the name is taken */
export async function addWebKey(sql: Sql, { name, createdAt }: WebKey): Promise<string | undefined> {
  const key = randomBytes(32).toString('base64url')
  const added = await sql.query(
    `insert into sync.web_key (name, hash, created_at) values ($1, decode($2, 'hex'), $3)
     on conflict (name) do nothing returning name`,
    [name, webKeyHash(key), createdAt],
  )
  return added.length > 0 ? key : undefined
}

export async function readWebKeys(sql: Sql): Promise<WebKey[]> {
  return await sql.query<WebKey>('select name, created_at as "createdAt" from sync.web_key order by name collate "C"')
}

/** Removes a key; false when there is none of this name. */
export async function removeWebKey(sql: Sql, name: string): Promise<boolean> {
  const removed = await sql.query('delete from sync.web_key where name = $1 returning name', [name])
  return removed.length > 0
}

/** The names of all keys by their hashes in hexadecimal. */
export async function readWebKeyHashes(sql: Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.query<{ name: string; hash: string }>(
    `select name, encode(hash, 'hex') as hash from sync.web_key`,
  )
  return new Map(rows.map(({ name, hash }) => [hash, name]))
}

/** SHA-256 of a key in hexadecimal. */
export function webKeyHash(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
