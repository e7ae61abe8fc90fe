import type { Sql } from '../../../db/database.ts'
import type { Period } from '../period.ts'
import { apiWords, count, number } from '../words.ts'
import type { ValueChange } from './direction.ts'

/** A patch of the game, in numbers. */
export interface Patch extends Changed {
  readonly patch: number
  readonly startedAt: Date
  readonly endedAt: Date
}

/** How many of each kind changed, without technical changes. */
export interface Changed {
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly recipes: number
  readonly abilities: number
  readonly aspects: number
  readonly quests: number
  /** Changed values that say nothing of the game. */
  readonly technical: number
}

/** With what the website published near it, which takes longer to find. */
interface PublishedPatch extends Patch {
  readonly article: string | null
}

export type Kind = 'items' | 'recipes' | 'abilities' | 'aspects' | 'quests'

export interface Change extends ValueChange {
  readonly kind: Kind
  /** What players call it. */
  readonly name: string
  readonly key: string
  /** Of an ability or aspect. */
  readonly class: string | null
  readonly isRevert: boolean
  readonly at: Date
}

const columns = `patch, started_at as "startedAt", ended_at as "endedAt", items_added as added, items_changed as changed,
  items_removed as removed, recipes_changed as recipes, abilities_changed as abilities, aspects_changed as aspects,
  quests_changed as quests, technical_changes as technical`
const published = `${columns}, nearest_article as article`

/** The last patch that began before an instant. */
export async function lastPatch(sql: Sql, before: Date): Promise<Patch | undefined> {
  const [row] = await sql.query<Patch>(
    `select ${columns} from analytics.patch where started_at < $1 order by patch desc limit 1`,
    [before],
  )
  return row
}

/** The last one in which abilities or aspects changed. */
export async function lastBalancePatch(sql: Sql, before: Date): Promise<PublishedPatch | undefined> {
  const [row] = await sql.query<PublishedPatch>(
    `select ${published} from analytics.patch
      where started_at < $1 and abilities_changed + aspects_changed > 0 order by patch desc limit 1`,
    [before],
  )
  return row
}

/** The latest patches, the last one first, or those that were first seen in a period. */
export async function latestPatches(sql: Sql, most: number, period?: Period): Promise<PublishedPatch[]> {
  return await sql.query<PublishedPatch>(
    `select ${published} from analytics.patch
      where ($2::timestamptz is null or started_at >= $2) and ($3::timestamptz is null or started_at < $3) order by patch desc limit $1`,
    [most, period?.from ?? null, period?.to ?? null],
  )
}

export async function patchNumbered(sql: Sql, patch: number): Promise<PublishedPatch | undefined> {
  const [row] = await sql.query<PublishedPatch>(`select ${published} from analytics.patch where patch = $1`, [patch])
  return row
}

/** How many of each kind a patch changed, added and removed, in a sentence; of a change of form, that it is one. */
export function patchText({
  changed,
  added,
  removed,
  recipes,
  abilities,
  aspects,
  quests,
  technical,
}: Changed): string {
  const some = (amount: number, one: string, many?: string) => (amount > 0 ? [count(amount, one, many)] : [])
  const items = changed + added + removed > 0
  const parts = [
    ...(items
      ? [count(changed, 'item changed', 'items changed'), `${number(added)} added`, `${number(removed)} removed`]
      : []),
    ...some(recipes, 'recipe changed', 'recipes changed'),
    ...some(abilities, 'ability changed', 'abilities changed'),
    ...some(aspects, 'aspect changed', 'aspects changed'),
    ...(quests > 0 ? ['another number of quests'] : []),
  ]
  return parts.length > 0 ? parts.join(', ') : `only the form of the data: ${count(technical, 'technical change')}`
}

/** The question about each kind, and how it names what changed. */
const views: Readonly<Record<Kind, { readonly view: string; readonly named: string }>> = {
  items: { view: 'item_change', named: 'internal_name as key, null as class, coalesce(display_name, internal_name)' },
  recipes: { view: 'recipe_change', named: 'internal_name as key, null as class, internal_name' },
  // A name that is nothing but markup is empty.
  abilities: { view: 'ability_change', named: `key, class, coalesce(nullif(name, ''), key)` },
  aspects: { view: 'aspect_change', named: `key, class, coalesce(nullif(name, ''), key)` },
  quests: { view: 'quest_change', named: 'key, class, name' },
}

/** Path of the answer that has all changes of a kind. */
export function answerPath(kind: Kind, patch: number): string {
  return `/api/v1/${views[kind].view}?patch=${patch}`
}

/** What a patch changed, one after the other; at most `most` values. */
export async function changesOf(sql: Sql, patch: Patch, kinds: readonly Kind[], most: number): Promise<Change[]> {
  // The instants are what an index finds.
  const parts = kinds.map(
    (
      kind,
      place,
    ) => `select ${place} as place, '${kind}' as kind, ${views[kind].named} as name, path, old_value as before,
            new_value as after, is_revert as "isRevert", changed_at
       from analytics.${views[kind].view} where patch = $1 and changed_at between $2 and $3`,
  )
  return await sql.query<Change>(
    `select kind, key, class, name, path, before, after, "isRevert", changed_at as at from (${parts.join(' union all ')}) change
      order by place, name collate "C", key collate "C", changed_at, path collate "C" limit $4`,
    [patch.patch, patch.startedAt, patch.endedAt, most],
  )
}

/** `loot bonus · max` of the JSON pointer of an identification: the names of the API in words. */
export function readablePath(path: string): string {
  if (path === '') return ''
  const parts = path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  // The names of these values say what they are.
  const named = parts.length > 1 && /^(identifications|base)$/.test(parts[0] ?? '') ? parts.slice(1) : parts
  return named.map((part) => (/^\w+$/.test(part) ? apiWords(part) : part)).join(' · ')
}
