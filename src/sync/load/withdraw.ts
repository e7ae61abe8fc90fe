import type { Sql } from '../../db/database.ts'
import type { Json } from '../normalize/hash.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { accepted } from '../record/accepted.ts'
import type { History } from '../resource.ts'
import { historySql } from './history-sql.ts'

export interface Withdrawn {
  readonly key: string
  /** Its start as text, with the microseconds. */
  readonly validFrom: string
  readonly document: Json
}

/** What becomes of entities that are older than what is stored, and that enough responses agree in. */
export interface JudgedOlder {
  /** Those that replace the current version of their key, with the instant of the first response that showed each. */
  readonly replacing: ReadonlyMap<Prepared, Date>
  /** Versions that made way for the one before them, which is current again. */
  readonly withdrawn: readonly Withdrawn[]
}

/**
 * Takes out current versions that a single response showed, where enough later ones in a row show the version before it
 * again: it did not end, so it is current as if that response had not come. What two responses showed stays as a version.
 * For histories without parts.
 *
 * @param confirmed entities that enough responses in a row agree in, the one of `at` included
 * @param responses how many are enough
 * @returns the entities that become new versions, because something else was stored before, and what was withdrawn
 */
export async function withdrawShownOnce(
  sql: Sql,
  history: History,
  confirmed: ReadonlyMap<Prepared, Date>,
  { resource, responses, at }: { readonly resource: string; readonly responses: number; readonly at: Date },
): Promise<JudgedOlder> {
  if (confirmed.size === 0) return { replacing: confirmed, withdrawn: [] }
  const { table, keyText, keyJoin, hasDocument } = historySql(history)
  const entities = [...confirmed.keys()]
  const withdrawn = await sql.query<Withdrawn>(
    `delete from ${table.name} wrong using unnest($1::text[], $2::bytea[]) as again(key, hash), ${table.name} before
      where ${keyText('wrong')} = again.key and wrong.valid_until = 'infinity'
        and ${keyJoin('before', 'wrong')} and before.valid_until = wrong.valid_from and before.hash = again.hash
        and (select count(*) from sync.run where resource = $3 and ${accepted}
                and observed_at > wrong.observed_at and observed_at < $4) < $5
      returning again.key, wrong.valid_from::text as "validFrom", ${hasDocument ? 'wrong.document' : 'null'} as document`,
    [entities.map(({ key }) => key), entities.map(({ hash }) => hash), resource, at, responses],
  )
  if (withdrawn.length > 0)
    await sql.query(
      `update ${table.name} before set valid_until = 'infinity'
         from unnest($1::text[], $2::timestamptz[]) as gone(key, at)
        where ${keyText('before')} = gone.key and before.valid_until = gone.at`,
      [withdrawn.map(({ key }) => key), withdrawn.map(({ validFrom }) => validFrom)],
    )
  const restored = new Set(withdrawn.map(({ key }) => key))
  return { replacing: new Map([...confirmed].filter(([{ key }]) => !restored.has(key))), withdrawn }
}
