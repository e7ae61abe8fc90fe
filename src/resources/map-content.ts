import type { Api } from '../api/client.ts'
import type { RewardCall } from '../api/endpoints/map.ts'
import type { ApiResponse } from '../api/response.ts'
import { type Body, recordsOf } from '../api/schemas/form/bodies.ts'
import { type MapContent, mapContentSchema, parseMapContent } from '../api/schemas/places.ts'
import { bigint, boolean, type ColumnBuilders, doublePrecision, integer, text } from '../db/columns.ts'
import { historyTable, type KeyedRoot, partTable } from '../db/history.ts'
import { defineResource, type Entity, type Resource } from '../sync/declare/resource.ts'
import type { Json } from '../sync/normalize/hash.ts'
import { fieldOf, hasFields, joinLists, knownBy, severalParts, textField } from './record.ts'

/*
 * Camps, raids and loot pools have one shape (API reference 8); a pool has the fields of its rewards only. Their rewards
 * change every week.
 */

export const placeColumns = () => ({
  lore: text('Text that describes it.'),
  difficulty: text('EASY, MEDIUM or HARD.'),
  recommendedLevel: integer('The combat level that the API gives for it.'),
  length: text('SHORT, MEDIUM or LONG.'),
  x: doublePrecision('East of the centre of the map, in blocks. NULL: the API sends no place.'),
  y: doublePrecision('Height in blocks.'),
  z: doublePrecision('South of the centre of the map, in blocks.'),
})

/** Declares the table of camps, raids or pools, with columns of its own. */
export const contentTable = <Name extends string, Columns extends ColumnBuilders>(
  name: Name,
  comment: string,
  columns: Columns,
) => {
  const key = {
    internalName: text('Natural key: the name that the game uses itself, such as nameless.'),
    level: integer('The combat level that the rewards are computed for; 0: the own level of the place.'),
  }
  const common = {
    name: text('Name as players see it. NULL: the API did not send it.'),
    kind: text('CAMP, RAID, or what else the API sends.'),
  }
  return historyTable(name, comment, key, { ...common, ...columns }, { document: true })
}

export const rewardTable = <Name extends string, Key extends ColumnBuilders>(
  root: KeyedRoot<Key>,
  name: Name,
  comment: string,
) =>
  partTable(
    root,
    name,
    comment,
    { position: integer('Place in the list sorted by type, name and tier, from 0.') },
    {
      rewardType: text('ITEM, ASPECT, TOME, CURRENCY, INGREDIENT, WARD, or what else the API sends.'),
      reward: text('Name of the reward as players see it.'),
      tier: text('Tier of the reward. NULL: it has none.'),
      amount: bigint('How many.'),
      shiny: boolean('True: the shiny form of the item.'),
      always: boolean('True: everybody gets it.'),
    },
  )

export const requirementTable = <Name extends string, Key extends ColumnBuilders>(
  root: KeyedRoot<Key>,
  name: Name,
  comment: string,
) =>
  partTable(
    root,
    name,
    comment,
    { position: integer('Place in the list of the API, from 0.') },
    {
      requirementType: text('COMBAT_LEVEL, QUEST, GLOBAL_QUEST, CAVE, SCRIPT_DATA, or what else the API sends.'),
      value: text('What is required, as text: a level or a name.'),
    },
  )

/** What differs between camps, raids and loot pools. */
interface Declaration extends Pick<Resource, 'name' | 'schedule' | 'cacheSeconds' | 'route' | 'history'> {
  readonly request: (api: Api, call: RewardCall) => Promise<ApiResponse<Body>>
  /** The `type` of its records; absent: of any. */
  readonly kind?: string
  /** About how many there are. */
  readonly records: number
}

/** Declares the resource of one of the three. */
export function mapContent({ request, kind, records, ...declared }: Declaration): Resource {
  const hasPlace = 'requirements' in declared.history.parts
  return defineResource({
    ...declared,
    rawCost: 'a few kB a response',
    byLevel: true,
    file: {
      isRecord: (record) =>
        hasFields(record, 'internalName', 'rewards') &&
        ['location', 'requirements', 'difficulty'].some((field) => hasFields(record, field)) === hasPlace &&
        (kind === undefined || fieldOf(record, 'type') === kind),
      records,
      join: joinLists('name', 'internalName'),
    },
    extract: async (api, { signal, lane, levels = [] }) => {
      const asked = [ownLevel, ...levels]
      const parts = asked.map((level) => ({
        what: `level ${level}`,
        ask: () =>
          request(api, { signal, lane, ...(level > 0 ? { level } : {}) }).then(
            (answer) => [answer, recordsOf(answer.body, 'name').map((body) => ({ level, body }))] as const,
          ),
      }))
      const covers = (key: string) => asked.includes(Number(key.slice(key.lastIndexOf('/') + 1)))
      return { ...(await severalParts(parts)), covers }
    },
    keyOf: (record) => {
      const name = textField(fieldOf(record, 'body'), 'internalName')
      return name && `${name}/${fieldOf(record, 'level')}`
    },
    bodyOf: (record) => fieldOf(record, 'body'),
    normalize: (record) => normalizeContent(record as Leveled, hasPlace),
    ...knownBy(mapContentSchema),
  })
}

/** What stands for the level of the place itself: no level was asked for. */
const ownLevel = 0

/** A camp, raid or pool, and the level that was asked for. */
interface Leveled {
  readonly level: number
  readonly body: unknown
}

/** One camp, raid or pool. Its rewards come in any order: they are sorted. */
function normalizeContent({ level, body }: Leveled, hasPlace: boolean): Entity {
  const parsed = parseMapContent(body)
  const { internalName, name, type: kind, location } = parsed
  const { lore, difficulty, level: recommendedLevel, length, requirements } = parsed
  // What is not sent, or cannot be read, is not empty.
  const rewards = parsed.rewards === undefined ? undefined : [...(parsed.rewards ?? [])].sort(byText)
  const root = { internalName, level, name, kind }
  const parts = { rewards: (rewards ?? []).map(rewardRow) }
  const document = { ...parsed, ...(rewards ? { rewards } : {}) } as Json
  const formerly = rewards ? {} : { formerly: { ...parsed, rewards: [] } as Json }
  const key = `${internalName}/${level}`
  if (!hasPlace) return { key, document, ...formerly, root, parts }
  const place = { lore, difficulty, recommendedLevel, length, x: location?.x, y: location?.y, z: location?.z }
  return {
    key,
    document,
    ...formerly,
    root: { ...root, ...place },
    parts: { ...parts, requirements: requirementRows(requirements) },
  }
}

/** What is required of players, as rows. */
export function requirementRows(requirements: MapContent['requirements']) {
  return (requirements ?? []).map(({ type: requirementType, value }, position) => ({
    position,
    requirementType,
    value: value === null || value === undefined ? null : String(value),
  }))
}

type Reward = NonNullable<MapContent['rewards']>[number]

function rewardRow({ type: rewardType, name: reward, tier, amount, shiny, always }: Reward, position: number) {
  return {
    position,
    rewardType,
    reward,
    tier: tier === null || tier === undefined ? null : String(tier),
    amount,
    shiny: shiny === undefined ? null : Boolean(shiny),
    always,
  }
}

function byText(one: Reward, other: Reward): number {
  const left = sortText(one)
  const right = sortText(other)
  return left < right ? -1 : left > right ? 1 : 0
}

function sortText({ type, name, tier, ...rest }: Reward): string {
  return JSON.stringify([type, name, tier, rest])
}
