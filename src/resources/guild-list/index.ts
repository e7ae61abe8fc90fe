import { isUuid } from '../../api/schemas/form/limits.ts'
import { guildListEntrySchema, listedGuilds, parseGuildListEntry } from '../../api/schemas/guilds.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { fieldOf, hasFields, joinMaps, knownBy, oneAnswer, recordError, uuidField } from '../record.ts'
import { guildListHistory } from './tables.ts'

/**
 * Names and prefixes of all guilds: `GET /guild/list/guild`, cached for an hour (API reference 3.5). A guild that appears,
 * is renamed, gets another prefix or disbands is a version that starts or ends.
 */
export const guildList = defineResource({
  name: 'guild-list',
  schedule: '27 * * * *',
  cacheSeconds: 3600,
  route: '/guild/list/guild',
  // Keyed by name, of guilds with the same name only one is listed.
  otherForms: ['/guild/list/guild'],
  file: {
    isRecord: isListed,
    notSent: [
      {
        // A setting of a program may be called so, too.
        is: (guild, key) =>
          /\D/.test(key) && hasNamesAlone(guild) && /^([a-z]{3,4}|null)$/i.test(String(fieldOf(guild, 'prefix'))),
        what: 'guilds by their names, without their uuids: of 2023, or made from responses',
      },
    ],
    records: 15_500,
    join: joinMaps,
  },
  rawCost: '0.5 MB a response',
  history: guildListHistory,
  extract: async (api, { signal, lane }) => {
    // Keyed by uuid, guilds with an empty name are distinct; readers accept either key.
    const answer = await api.guilds.list({ identifier: 'uuid', signal, lane })
    return { records: listedGuilds(answer.body), ...oneAnswer(answer) }
  },
  keyOf: (record) => uuidField(record, 'uuid'),
  normalize: normalizeListing,
  ...knownBy(guildListEntrySchema),
})

/** Whether it is a guild of the list. A board is keyed by place, and its entries, of guilds or players, have more than names. */
function isListed(guild: unknown, key: string): boolean {
  const isNamed = hasFields(guild, 'prefix') && (hasFields(guild, 'uuid') || isUuid(key)) && !/^\d+$/.test(key)
  return isNamed && hasNamesAlone(guild)
}

function hasNamesAlone(guild: unknown): boolean {
  return Object.keys(Object(guild)).every((field) => ['uuid', 'name', 'prefix'].includes(field))
}

/** @throws RecordError when the guild has no uuid, as its name alone is no key, or nothing else: then it is not said what it is called */
function normalizeListing(record: unknown): Normalized<typeof guildListHistory> {
  const { uuid: _, name = null, prefix = null, ...others } = parseGuildListEntry(record)
  const guildUuid = uuidField(record, 'uuid')
  if (!guildUuid) throw recordError('/uuid', `guild ${JSON.stringify(name)} has no uuid`)
  if (!hasFields(record, 'name') && !hasFields(record, 'prefix'))
    throw recordError('', 'a guild without name and prefix')
  return {
    key: guildUuid,
    document: { ...others, name, prefix } as Json,
    root: { guildUuid, name, prefix },
    parts: {},
  }
}
