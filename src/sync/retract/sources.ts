import { createHash } from 'node:crypto'
import { UsageError } from '../../base/errors.ts'
import type { Database, Sql } from '../../db/database.ts'
import type { Engine } from '../run/engine.ts'

/** What history was imported from. */
export interface Source {
  readonly sourceId: string
  readonly kind: string
  readonly place: string
}

/** The source that a folder of recordings or a git repository is, by its absolute path. */
export function sourceOf(kind: 'recordings' | 'git', place: string): Source {
  return { sourceId: createHash('sha256').update(`${kind}\n${place}`).digest('hex').slice(0, 32), kind, place }
}

/** Remembers a source from which responses are about to be loaded. */
export async function saveSource(
  sql: Sql,
  { sourceId, kind, place }: Source,
  { clock, program }: Pick<Engine, 'clock' | 'program'>,
): Promise<void> {
  await sql.query(
    `insert into sync.source (source_id, kind, place, program, exported_at, taken_at) values ($1, $2, $3, $4, $5, $5)
     on conflict (source_id) do update set program = excluded.program, exported_at = excluded.exported_at, taken_at = excluded.taken_at`,
    [sourceId, kind, place, program, new Date(clock.now())],
  )
}

/**
 * The source of a name: its id, or the place that it was imported from, as it was written then or as an absolute path.
 * @throws UsageError when there is none, or several; it names those there are
 */
export async function findSource(db: Database, names: readonly string[]): Promise<Source> {
  const found = await listSources(db)
  const those = found.filter(({ sourceId, place }) => names.includes(sourceId) || names.includes(place))
  const [source] = those
  if (source && those.length === 1) return source
  const list = (of: readonly Source[]) =>
    of.map(({ sourceId, kind, place }) => `${place} (${kind}, ${sourceId})`).join('; ')
  if (source) throw new UsageError(`several sources are called ${names[0]}: name one by its id: ${list(those)}`)
  const known = found.length > 0 ? `; there are: ${list(found)}` : '; nothing was imported into this database'
  throw new UsageError(`source not found: ${names[0]}${known}`)
}

async function listSources(db: Database): Promise<readonly Source[]> {
  return await db.query<Source>('select source_id as "sourceId", kind, place from sync.source order by place')
}

/** Forgets a source of which nothing is left: it can be imported again. */
export async function forgetSource(sql: Sql, sourceId: string): Promise<void> {
  for (const table of ['source_file', 'source_span', 'source_version', 'source_conflict', 'source'])
    await sql.query(`delete from sync.${table} where source_id = $1`, [sourceId])
}
