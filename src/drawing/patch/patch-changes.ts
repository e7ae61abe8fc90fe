import type { Sql } from '../../db/database.ts'
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
  /** Whether it says nothing of the game by itself, such as a place in a tree. */
  readonly isTechnical: boolean
  readonly at: Date
}

const columns = `patch, started_at as "startedAt", ended_at as "endedAt", items_added as added, items_changed as changed,
  items_removed as removed, recipes_changed as recipes, abilities_changed as abilities, aspects_changed as aspects,
  quests_changed as quests, technical_changes as technical`
const published = `${columns}, nearest_article as article`

/** The last patch that began before an instant. */
export async function lastPatch(sql: Sql, before: Date): Promise<Patch | undefined> {
  const [row] = await sql.query<Patch>(
    // Of others nothing is counted.
    `select ${columns} from analytics.patch where patch = (select max(patch) from analytics.change_instant where changed_at < $1)`,
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

/** Every patch, the last one first, as long as nothing changes of which they were made. */
export interface AllPatches {
  readonly patches: readonly PublishedPatch[]
  /** Another one where a change of the content or an article has come, or one is gone. */
  readonly state: string
}

/** Counts every patch: of whole new items this takes a second, and what was known before is compared in a hundredth. */
export async function allPatches(sql: Sql, known?: AllPatches): Promise<AllPatches> {
  const rows = await sql.query<PublishedPatch & { readonly state: string }>(
    `with state as materialized (
       select concat_ws(' ', (select md5(string_agg(concat_ws(' ', each.resource, extract(epoch from each.changed_at), each.changes), ','
                                                    order by each.resource collate "C", each.changed_at))
                                from (select resource, changed_at, count(*) as changes from game.field_change
                                       where resource in ('items', 'recipes', 'ability-trees', 'aspects', 'quests') group by resource, changed_at) each),
                             (select concat_ws(' ', count(*), extract(epoch from max(valid_from))) from game.article)) as state)
     select state.state, patch.*
       from state
       -- A condition on the numbers of patches reaches what they are counted from: where no patch is wanted, nothing is read.
       left join (select ${published} from analytics.patch where patch > (select case when state is distinct from $1 then 0 else 2147483647 end from state)) patch on true
      order by patch.patch desc nulls last`,
    [known?.state ?? null],
  )
  const [first] = rows
  if (known && first?.state === known.state) return known
  return { state: first?.state ?? '', patches: rows.filter(({ patch }) => patch !== null) }
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
            new_value as after, is_revert as "isRevert", analytics.is_technical(path, old_value, new_value) as "isTechnical", changed_at
       from analytics.${views[kind].view} where patch = $1 and changed_at between $2 and $3`,
  )
  return await sql.query<Change>(
    `select kind, key, class, name, path, before, after, "isRevert", "isTechnical", changed_at as at from (${parts.join(' union all ')}) change
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
