import * as z from 'zod'
import { type Body, recordsOf } from './form/bodies.ts'
import { known, number, text } from './form/field-meta.ts'
import { recordParser } from './form/record.ts'

/** The names the service has used so far on its map (API reference 8); others are still accepted. */
export const mapVocabulary = {
  difficulty: ['EASY', 'MEDIUM', 'HARD'],
  length: ['SHORT', 'MEDIUM', 'LONG'],
  contentType: ['CAMP', 'RAID'],
  requirementType: ['COMBAT_LEVEL', 'QUEST', 'GLOBAL_QUEST', 'CAVE', 'SCRIPT_DATA'],
  rewardType: ['ITEM', 'ASPECT', 'TOME', 'CURRENCY', 'INGREDIENT', 'WARD'],
  nodeType: ['NODE', 'WALL', 'CORNER'],
} as const

/** Block coordinates, with fractions at times. */
const point = z.looseObject({ x: number, y: number, z: number })

const requirements = z
  .array(
    z.looseObject({
      type: known(mapVocabulary.requirementType).nullish(),
      value: z.union([z.number(), z.string()]).nullish(),
    }),
  )
  .nullish()

/** One marker of the web map. Its coordinates come as texts. */
export const markerSchema = z.looseObject({
  name: text,
  icon: text,
  x: z.union([z.string(), z.number()]).nullish(),
  y: z.union([z.string(), z.number()]).nullish(),
  z: z.union([z.string(), z.number()]).nullish(),
})

const whereabouts = {
  uuid: text,
  name: text,
  nickname: text,
  /** Uuid of the character being played. */
  character: text,
  server: text,
  x: number,
  y: number,
  z: number,
} as const

const companions = z.array(z.looseObject(whereabouts)).nullish()

/** Where a player of the credential is, and the friends, party and guild mates who let him see where they are. */
export const playerLocationSchema = z.looseObject({
  ...whereabouts,
  friends: companions,
  party: companions,
  guild: companions,
})

/** One world event. `internalName` is its key: eight hexadecimal digits. */
export const worldEventSchema = z.looseObject({
  internalName: z.string(),
  name: text,
  lore: text,
  difficulty: known(mapVocabulary.difficulty).nullish(),
  level: number,
  length: known(mapVocabulary.length).nullish(),
  /** Texts by combat level. */
  rewardPerLevel: z.record(z.string(), z.array(z.string())).nullish(),
  requirements,
  location: z
    .array(
      z.looseObject({
        event: point.nullish(),
        spawn: point.nullish(),
        reward: point.nullish(),
        radius: number,
        spawnRadius: number,
      }),
    )
    .nullish(),
  /** When it next happens; null for most. */
  schedule: text,
})

/** One camp or raid; a loot pool is the same without the fields between `type` and `rewards`. */
export const mapContentSchema = z.looseObject({
  internalName: z.string(),
  name: text,
  type: known(mapVocabulary.contentType).nullish(),
  lore: text,
  difficulty: known(mapVocabulary.difficulty).nullish(),
  level: number,
  length: known(mapVocabulary.length).nullish(),
  requirements,
  location: point.nullish(),
  rewards: z
    .array(
      z.looseObject({
        name: text,
        type: known(mapVocabulary.rewardType).nullish(),
        amount: number,
        /** True when everybody gets it. */
        always: z.boolean().nullish(),
        tier: z.union([z.string(), z.number()]).nullish(),
        shiny: z.unknown().optional(),
      }),
    )
    .nullish(),
})

/** Where something can be gathered. */
export const gatheringNodeSchema = z.looseObject({
  x: number,
  y: number,
  z: number,
  angle: number,
  type: known(mapVocabulary.nodeType).nullish(),
  resource: text,
  level: number,
})

/** How many quests there are. */
export const questCountSchema = z.looseObject({ quests: number })

export type MapMarker = z.output<typeof markerSchema>
export type PlayerLocation = z.output<typeof playerLocationSchema>
export type WorldEvent = z.output<typeof worldEventSchema>
export type MapContent = z.output<typeof mapContentSchema>
export type GatheringNode = z.output<typeof gatheringNodeSchema>
export type QuestCount = z.output<typeof questCountSchema>

/** A reader of a list; each throws RecordError with the JSON pointer of the first thing that does not fit. */
function listReader<Schema extends z.ZodType>(name: string, schema: Schema): (body: Body) => z.output<Schema>[] {
  const parse = recordParser(name, z.array(schema))
  return (body) => parse(recordsOf(body, 'name'))
}

export const readMarkers: (body: Body) => MapMarker[] = listReader('map markers', markerSchema)
export const readPlayerLocations: (body: Body) => PlayerLocation[] = listReader('locations', playerLocationSchema)
export const readWorldEvents: (body: Body) => WorldEvent[] = listReader('world events', worldEventSchema)
export const readMapContents: (body: Body) => MapContent[] = listReader('map contents', mapContentSchema)
export const readGatheringNodes: (body: Body) => GatheringNode[] = listReader('gathering nodes', gatheringNodeSchema)

/** One record of such a list. @throws RecordError with the JSON pointer of the first thing that does not fit */
export const parseMarker: (record: unknown) => MapMarker = recordParser('map marker', markerSchema)
export const parseWorldEvent: (record: unknown) => WorldEvent = recordParser('world event', worldEventSchema)
export const parseMapContent: (record: unknown) => MapContent = recordParser('map content', mapContentSchema)
export const parseGatheringNode = recordParser('gathering node', gatheringNodeSchema)
/** @throws RecordError when it is no count */
export const parseQuestCount: (body: unknown) => QuestCount = recordParser('quest count', questCountSchema)
