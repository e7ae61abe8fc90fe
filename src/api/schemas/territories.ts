import * as z from 'zod'
import { known, number, text } from './form/field-meta.ts'
import { recordParser } from './form/record.ts'

/** The names the service has used so far (API reference 6.3); others are still accepted. */
export const territoryVocabulary = {
  resourceType: ['EMERALD', 'ORE', 'WOOD', 'FISH', 'CROP'],
  level: ['VERY_LOW', 'LOW', 'MEDIUM', 'HIGH', 'VERY_HIGH'],
} as const

const corner = z.array(z.number()).nullish()
const level = known(territoryVocabulary.level).nullish()

/** One territory, as the value in the answer of `/guild/list/territory`: its name is the key there. */
export const territorySchema = z.looseObject({
  /** Unclaimed when it is null, or when its fields are; a bare name has been met too. */
  guild: z.union([z.looseObject({ uuid: text, name: text, prefix: text, hq: text }), z.string()]).nullish(),
  /** When its guild captured it; null while it is unclaimed, as after a reset of the map. */
  acquired: text,
  /** Whether the guild's headquarters are here. */
  hq: z.boolean().nullish(),
  /** Per hour. Every type has a base; what is produced has a `generation` above 0. Numbers by type in old answers. */
  resources: z
    .union([
      z.array(
        z.looseObject({
          type: known(territoryVocabulary.resourceType).nullish(),
          generation: number,
          baseGeneration: number,
          stored: number,
          limit: number,
        }),
      ),
      z.record(z.string(), number),
    ])
    .nullish(),
  /** Names of territories; some do not exist. */
  links: z.array(z.string()).nullish(),
  treasury: level,
  defences: level,
  /** Two opposite corners, each `[x, z]` in blocks, in no fixed order. */
  location: z.looseObject({ start: corner, end: corner }).nullish(),
})

export type Territory = z.output<typeof territorySchema>

/** @throws RecordError with the JSON pointer of the first thing that is no territory */
export const parseTerritory: (record: unknown) => Territory = recordParser('territory', territorySchema)
