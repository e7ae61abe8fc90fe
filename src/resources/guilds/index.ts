import * as z from 'zod'
import { guildMemberSchema, guildSchema } from '../../api/schemas/guilds.ts'
import { defineWorklist } from '../../sync/declare/resource.ts'
import { guildListHistory } from '../guild-list/tables.ts'
import { inGuilds } from '../personal.ts'
import { aboutAnother, hasFields, knownBy, oneAnswer, uuidField } from '../record.ts'
import { guildGrowth, guildHours } from './growth.ts'
import { findGuilds, guildsCalled, guildsLike, lookUpGuilds, planGuilds } from './keys.ts'
import { incompleteReason, normalizeGuild } from './normalize.ts'
import {
  guildHistory,
  guildRanking,
  guildSample,
  guildSeason,
  memberCounter,
  memberHistory,
  memberPresence,
} from './tables.ts'

/** A guild with its members by rank, and their total. */
const guildWithMembers = guildSchema.extend({
  members: z.record(z.string(), z.union([z.number(), z.record(z.string(), guildMemberSchema)])).nullish(),
})

/** Guilds with their members, one answer per guild: `GET /guild/uuid/{uuid}`, cached for two minutes (API reference 6.1, 6.2). */
export const guilds = defineWorklist({
  name: 'guilds',
  schedule: '*/2 * * * *',
  cacheSeconds: 120,
  route: '/guild/uuid/{uuid}',
  rawDays: 7,
  rawCost: "2 to 10 kB a response: 190 to 760 MB a day, with the players, at a guest's whole budget (50 a minute)",
  backfill: { keys: 15_500, rowsPerKey: 100 },
  file: { isBody: (body) => hasFields(body, 'uuid', 'name', 'prefix', 'members') && !hasFields(body, 'username') },
  keyFlag: 'guild',
  keySource: 'guild-list',
  evidence: { days: guildHours },
  retained: guildGrowth,
  history: guildHistory,
  relatedHistories: {
    members: {
      ...memberHistory,
      absence: 'own',
      spellColumn: 'joined',
      corroborated: { joined: 'joined', rank: 'rank' },
      ...knownBy(guildMemberSchema.extend({ rank: guildMemberSchema.shape.username })),
    },
  },
  samples: {
    guild: { table: guildSample, key: ['guildUuid'], counters: ['level', 'wars', 'raids'] },
    seasons: { table: guildSeason, key: ['guildUuid', 'season'] },
    rankings: { table: guildRanking, key: ['guildUuid', 'board'] },
    counters: { table: memberCounter, key: ['guildUuid', 'playerUuid', 'counter'], counters: ['value'] },
    presence: { table: memberPresence, key: ['guildUuid', 'playerUuid'] },
  },
  listing: { resource: 'guild-list', history: guildListHistory },
  plan: planGuilds,
  find: findGuilds,
  lookUp: lookUpGuilds,
  holders: guildsCalled,
  similar: guildsLike,
  extractOne: async (api, uuid, { signal, lane }) => {
    const answer = await api.guilds.byUuid(uuid, { signal, lane })
    const validationError = aboutAnother(answer.body, uuid) ?? incompleteReason(answer.body)
    return { records: [answer.body], ...oneAnswer(answer), validationError }
  },
  keyOf: (record) => uuidField(record, 'uuid'),
  normalize: normalizeGuild,
  ...knownBy(guildSchema, guildWithMembers),
  personal: inGuilds,
})
