import * as z from 'zod'
import { characterSchema } from '../../api/schemas/people/characters.ts'
import { playerSchema } from '../../api/schemas/people/players.ts'
import { defineWorklist } from '../../sync/declare/resource.ts'
import { inProfiles } from '../personal.ts'
import { aboutAnother, hasFields, knownBy, oneAnswer, uuidField } from '../record.ts'
import { countNamelessPlayers, findPlayers, lookUpPlayers, planPlayers, playersCalled, playersLike } from './keys.ts'
import { normalizePlayer } from './normalize.ts'
import {
  characterCounter,
  characterHistory,
  characterProfession,
  characterQuest,
  playerCounter,
  playerHistory,
  playerRanking,
  playerStatus,
} from './tables.ts'

/** Of each version that lacks the guild of the one before the only response: `player_biography` takes it for no leaving. */
const onlyWithoutGuild = `
  select version.player_uuid::text as key, version.valid_from as observed_at
    from game.player version
    join game.player before on before.player_uuid = version.player_uuid and before.valid_until = version.valid_from
   where version.guild_uuid is null and before.guild_uuid is not null
     and not exists (select from sync.observation other
                      where other.resource = 'players' and other.key = version.player_uuid::text
                        and other.status in ('ok', 'unchanged', 'partial')
                        and other.observed_at > version.valid_from and other.observed_at < version.valid_until)`

const playerWithCharacters = playerSchema.extend({ characters: z.record(z.string(), characterSchema).nullish() })

const ofCharacterKey = ['playerUuid', 'characterUuid']

/**
 * Players with their characters, one answer per player: `GET /player/{uuid}?fullResult`, cached for two minutes (API
 * reference 2.3, 7.1, 7.2).
 */
export const players = defineWorklist({
  name: 'players',
  schedule: '*/2 * * * *',
  cacheSeconds: 120,
  route: '/player/{nameOrUuid}',
  rawDays: 7,
  rawCost: "2 to 10 kB a response: 190 to 760 MB a day, with the guilds, at a guest's whole budget (50 a minute)",
  backfill: { keys: 1_000, rowsPerKey: 130 },
  file: {
    // A member of a guild and an entry of a board have a name and a uuid, too.
    isBody: (body) =>
      hasFields(body, 'uuid', 'username') &&
      ['score', 'contributed', 'members'].every((field) => !hasFields(body, field)) &&
      ['playtime', 'globalData', 'characters', 'firstJoin', 'lastJoin', 'supportRank'].some((one) =>
        hasFields(body, one),
      ),
  },
  keyFlag: 'player',
  keySource: 'online-players',
  // A day is often enough for what is long ago. A quest is done once, so their table grows no more than there are quests.
  retained: [
    { table: playerStatus, key: ['playerUuid'], cell: 'day', last: ['online', 'last_join is not null'] },
    { table: playerCounter, key: ['playerUuid', 'counter'], cell: 'day' },
    { table: playerRanking, key: ['playerUuid', 'board'], cell: 'day' },
    { table: characterCounter, key: [...ofCharacterKey, 'counter'], cell: 'day' },
    { table: characterProfession, key: [...ofCharacterKey, 'profession'], cell: 'day' },
  ],
  keptObservations: onlyWithoutGuild,
  history: playerHistory,
  relatedHistories: {
    characters: { ...characterHistory, absence: 'own', ...knownBy(characterSchema) },
  },
  samples: {
    status: { table: playerStatus, key: ['playerUuid'] },
    counters: { table: playerCounter, key: ['playerUuid', 'counter'], counters: ['value'] },
    rankings: { table: playerRanking, key: ['playerUuid', 'board'] },
    characterCounters: { table: characterCounter, key: [...ofCharacterKey, 'counter'], counters: ['value'] },
    professions: { table: characterProfession, key: [...ofCharacterKey, 'profession'], counters: ['level'] },
    quests: { table: characterQuest, key: [...ofCharacterKey, 'quest'] },
  },
  plan: planPlayers,
  find: findPlayers,
  lookUp: lookUpPlayers,
  holders: playersCalled,
  similar: playersLike,
  countNameless: countNamelessPlayers,
  extractOne: async (api, uuid, { signal, lane }) => {
    const answer = await api.players.profile(uuid, { fullResult: true, signal, lane })
    return { records: [answer.body], ...oneAnswer(answer), validationError: aboutAnother(answer.body, uuid) }
  },
  keyOf: (record) => uuidField(record, 'uuid'),
  normalize: normalizePlayer,
  ...knownBy(playerSchema, playerWithCharacters),
  personal: inProfiles,
})
