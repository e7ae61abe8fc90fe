import type { Sql } from '../../../db/database.ts'

/** A patch of the game as it shows in items and recipes. */
export interface Patch {
  readonly patch: number
  readonly startedAt: Date
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly recipes: number
}

/** One changed value of an item or recipe; before or after is SQL NULL where it was not there. */
export interface Change {
  readonly kind: 'item' | 'recipe'
  readonly name: string
  readonly path: string
  readonly before: unknown
  readonly after: unknown
  readonly isRevert: boolean
}

const columns = `patch, started_at as "startedAt", items_added as added, items_changed as changed, items_removed as removed,
  recipes_changed as recipes`

/** The last patch that began before an instant. */
export async function lastPatch(sql: Sql, before: Date): Promise<Patch | undefined> {
  const [row] = await sql.query<Patch>(
    `select ${columns} from analytics.patch where started_at < $1 order by patch desc limit 1`,
    [before],
  )
  return row
}

/** The patch of a number. */
export async function patchNumbered(sql: Sql, patch: number): Promise<Patch | undefined> {
  const [row] = await sql.query<Patch>(`select ${columns} from analytics.patch where patch = $1`, [patch])
  return row
}

/** What a patch changed, item by item; at most `most` values. */
export async function changesOf(sql: Sql, patch: number, most: number): Promise<Change[]> {
  return await sql.query<Change>(
    `select 'item' as kind, coalesce(display_name, internal_name) as name, path, old_value as before, new_value as after,
            is_revert as "isRevert" from analytics.item_change where patch = $1
      union all
     select 'recipe', internal_name, path, old_value, new_value, is_revert from analytics.recipe_change where patch = $1
      order by kind, name, path limit $2`,
    [patch, most],
  )
}

/** `identifications · lootBonus · max` of a JSON pointer. */
export function readablePath(path: string): string {
  if (path === '') return ''
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join(' · ')
}
