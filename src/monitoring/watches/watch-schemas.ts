import * as z from 'zod'
import { watchEvents, watchesSchema } from './watch.ts'

const text = z.string()

/** The file of earlier versions, what `watch` prints, and what watches send. */
export const watchSchemas = {
  watches: watchesSchema,
  'watch-list': z.looseObject({
    database: text.nullable().describe('where the watches are; null: there is no history yet'),
    file: text.describe('watches.json of earlier versions, which the database takes over where it is'),
    watches: z.array(
      z.looseObject({ name: text, events: z.array(text), target: text.describe('without its secrets') }),
    ),
  }),
  'watch-message': z
    .looseObject({
      id: text.describe('idempotency key: the same in every attempt'),
      watch: text,
      title: text,
      count: z.int().min(0),
      events: z.array(
        z.looseObject({
          event: z.enum(watchEvents),
          at: z.iso.datetime().describe('when it happened, or was first seen'),
          change: z.int().min(0).describe('its number in /changes/N.json'),
          text,
          url: z.url().optional(),
          guild: text.nullish(),
          territory: text.optional(),
          player: text.nullish(),
          item: text.optional(),
        }),
      ),
    })
    .describe('what a watch sends to a webhook or a command'),
} as const
