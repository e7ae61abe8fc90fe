import * as z from 'zod'
import { mapOf, recordsOf } from './form/bodies.ts'
import { text } from './form/field-meta.ts'
import { recordParser } from './form/record.ts'
import { itemSchema } from './items.ts'

const guilds = z.record(z.string(), z.looseObject({ name: text, prefix: text }))
/** Two opposite corners `[x, z]`, in no fixed order. */
const areas = z.record(
  z.string(),
  z.looseObject({ start: z.array(z.number()).nullish(), end: z.array(z.number()).nullish() }),
)

/** What was found, by kind (API reference 8). */
export const searchSchema = z.looseObject({
  query: text,
  /** Names by uuid. */
  players: z.record(z.string(), z.string()),
  /** By uuid, where the name matches. */
  guilds,
  /** By uuid, where the prefix matches. */
  guildsPrefix: guilds,
  items: z.array(itemSchema),
  /** By name, like `discoveries`. */
  territories: areas,
  discoveries: areas,
})

export type SearchResult = z.output<typeof searchSchema>

const parseSearch = recordParser('search result', searchSchema)

/**
 * Reads the answer of `/search/{text}`, which leaves out kinds without a match and writes empty maps as `[]`.
 * @returns every kind, empty where nothing matched
 * @throws RecordError with the JSON pointer of the first thing that does not fit
 */
export function readSearch(body: Readonly<Record<string, unknown>>): SearchResult {
  return parseSearch({
    ...body,
    players: mapOf(body.players),
    guilds: mapOf(body.guilds),
    guildsPrefix: mapOf(body.guildsPrefix),
    items: recordsOf(body.items ?? [], 'displayName'),
    territories: mapOf(body.territories),
    discoveries: mapOf(body.discoveries),
  })
}
