import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { isUuid, uuidText } from '../../api/schemas/form/limits.ts'
import { misfitOf, type OddField, readLeniently } from '../../api/schemas/form/record.ts'
import { fieldsOf, isFields } from '../../api/schemas/form/unknown.ts'
import { type Character, characterSchema, parseCharacter } from '../../api/schemas/people/characters.ts'
import { type Player, parsePlayer, playerSchema } from '../../api/schemas/people/players.ts'
import { readRestrictions } from '../../api/schemas/people/restrictions.ts'
import { RecordError } from '../../base/errors.ts'
import {
  defineWorklist,
  type Entity,
  type IgnoredInstant,
  type Normalized,
  possible,
  type QuarantinedPart,
  type ResponseContext,
  type Row,
} from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { inProfiles } from '../personal.ts'
import {
  aboutAnother,
  hasFields,
  knownBy,
  numbersIn,
  omit,
  oneAnswer,
  readableOf,
  recordError,
  unnamedIn,
  uuidField,
  withPossible,
} from '../record.ts'
import { countNamelessPlayers, findPlayers, lookUpPlayers, planPlayers, playersCalled, playersLike } from './keys.ts'
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
    notSent: [
      {
        is: (record) => hasFields(record, 'username', 'lastUpdate'),
        what: 'what a tracker keeps of players, made from responses',
      },
    ],
    // A member of a guild, an entry of a board and one of several players that a name may mean have a name and a uuid, too.
    isBody: (body) =>
      hasFields(body, 'uuid', 'username') &&
      ['score', 'contributed', 'members'].every((field) => !hasFields(body, field)) &&
      [['playtime'], ['globalData'], ['characters'], ['firstJoin'], ['lastJoin'], ['supportRank', 'online']].some(
        (fields) => hasFields(body, ...fields),
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
    counters: { table: playerCounter, key: ['playerUuid', 'counter'], listedBy: 'counter', counters: ['value'] },
    rankings: { table: playerRanking, key: ['playerUuid', 'board'], listedBy: 'board' },
    characterCounters: {
      table: characterCounter,
      key: [...ofCharacterKey, 'counter'],
      listedBy: 'counter',
      counters: ['value'],
    },
    professions: {
      table: characterProfession,
      key: [...ofCharacterKey, 'profession'],
      listedBy: 'profession',
      counters: ['level'],
    },
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

/**
 * One player's whole answer into rows (API reference 7.1): who they are and their characters as history, everything
 * counted as samples. A group that is hidden is not sent and gives no sample: it is not zero.
 */
function normalizePlayer(record: unknown, context?: ResponseContext): Normalized<typeof playerHistory> {
  const {
    value: player,
    odd,
    hasAll,
  } = readableOf(record, (one) => withPossible(parsePlayer(one), context, 'firstJoin'), ['uuid'])
  const ignored: IgnoredInstant[] = []
  const lastJoin = possible(player.lastJoin, context, ignored, { field: 'lastJoin' })
  const lasting = omit(player, 'online', 'server', 'activeCharacter', 'lastJoin', 'characters')
  // Numbers that move, and what a player shows of them, are no version of the player.
  const shown = omit(lasting, 'previousRanking', 'featuredStats', 'restrictions')
  const { ranking, playtime, globalData, ...profile } = shown
  const playerUuid = uuidText(player.uuid)
  const { names: restricted, odd: oddRules } = readRestrictions(player)
  const characters = charactersOf(playerUuid, player.characters, restricted)
  // Postgres prints it so: another spelling is no other guild.
  const guild = player.guild && {
    ...player.guild,
    ...(player.guild.uuid ? { uuid: uuidText(player.guild.uuid) } : {}),
  }
  const colour = player.legacyRankColour
  const { username, nickname, rank, rankBadge, shortenedRank, supportRank } = player
  const named = { username, nickname, rank, rankBadge, shortenedRank, supportRank }
  return {
    key: playerUuid,
    document: {
      ...profile,
      ...unnamedTotals(player),
      ...(guild === undefined ? {} : { guild }),
      uuid: playerUuid,
      restrictions: restricted,
    } as Json,
    root: {
      playerUuid,
      ...named,
      rankColour: typeof colour === 'string' ? colour : colour?.main,
      rankColourSub: typeof colour === 'string' ? null : colour?.sub,
      veteran: player.veteran,
      firstJoin: player.firstJoin,
      guildUuid: guild?.uuid,
      guildName: guild?.name,
      guildPrefix: guild?.prefix,
      guildRank: guild?.rank,
      guildRankStars: guild?.rankStars,
      wallpaper: player.wallpaper,
      avatar: player.avatar,
      restricted,
    },
    parts: {},
    relatedEntities: { characters: characters.entities },
    // Hidden characters are not sent, so one that is missing may still be there.
    ...(characters.complete ? {} : { incomplete: ['characters'] }),
    samples: {
      // What cannot be read is not null.
      status: hasAll('online', 'server', 'lastJoin', 'activeCharacter')
        ? [statusOf(playerUuid, { ...player, lastJoin }, restricted)]
        : [],
      counters: numbersIn({ playtime, ...globalData }).map(([counter, value]) => ({ playerUuid, counter, value })),
      rankings: Object.entries(ranking ?? {}).flatMap(([board, position]) =>
        position === null || position === undefined ? [] : [{ playerUuid, board, position }],
      ),
      ...characters.samples,
    },
    lists: restricted.length + odd.length + oddRules.length > 0 ? {} : listsOf(playerUuid, player, characters.lists),
    ignored,
    odd: [...odd, ...oddRules],
    quarantined: characters.quarantined,
  }
}

/** Of what a profile lists all, where the player hides nothing: what is hidden is not sent either. */
function listsOf(
  playerUuid: string,
  { globalData, ranking }: Player,
  ofCharacters: NonNullable<Entity['lists']>,
): NonNullable<Entity['lists']> {
  const own = [{ playerUuid }]
  return { counters: isFields(globalData) ? own : [], rankings: isFields(ranking) ? own : [], ...ofCharacters }
}

/** `online: false` of a player who hides it means nothing, nor does `lastJoin`, which is then frozen or missing (API reference 7.3). */
function statusOf(playerUuid: string, player: Player, restricted: readonly string[]): Row {
  const { online, server, lastJoin, characters } = player
  const { activeCharacter } = hidesActive(restricted, Object.keys(characters ?? {}), player) ? noCharacter : player
  if (restricted.includes('onlineStatus') || typeof online !== 'boolean') return { playerUuid }
  return {
    playerUuid,
    online,
    world: server || null,
    lastJoin,
    activeCharacter: activeCharacter && uuidText(activeCharacter),
  }
}

const noCharacter = { activeCharacter: null }

/** Whether the character in play is one that the player hides: who hides the list hides each, and a hunted one is not in it. */
function hidesActive(
  restricted: readonly string[],
  listed: readonly string[],
  { activeCharacter }: Pick<Player, 'activeCharacter'>,
): boolean {
  if (restricted.includes('characterListAccess')) return true
  const active = activeCharacter && uuidText(activeCharacter)
  return restricted.includes('huntedCharacterAccess') && !listed.some((uuid) => uuidText(uuid) === active)
}

const skills = ['strength', 'dexterity', 'intelligence', 'defence', 'agility']
/**
 * A player's characters by uuid (API reference 7.2). One that cannot be read is quarantined, the others go on.
 * @param restricted the access rules that hide something of this player
 */
function charactersOf(playerUuid: string, characters: unknown, restricted: readonly string[]) {
  const entities: Entity[] = []
  const quarantined: QuarantinedPart[] = []
  const samples = { characterCounters: [] as Row[], professions: [] as Row[], quests: [] as Row[] }
  const lists = { characterCounters: [] as Row[], professions: [] as Row[] }
  const twice = contradicted(characters)
  for (const [uuid, record] of fieldsOf(characters)) {
    const key = `${playerUuid}/${uuidText(uuid)}`
    const known = isUuid(uuid)
    try {
      if (!known) throw recordError('', 'a character without a uuid')
      if (twice.has(uuidText(uuid))) throw recordError('', 'a character twice, each time with other content')
      const { value: character, odd } = readLeniently(record, parseCharacter)
      entities.push(traits(key, character, odd))
      const owner = { playerUuid, characterUuid: uuidText(uuid) }
      for (const counter of counters(owner, character)) samples.characterCounters.push(counter)
      for (const profession of professions(owner, character)) samples.professions.push(profession)
      const isShown =
        odd.length === 0 && !character.removedStat?.length && readRestrictions(character).names.length === 0
      if (isShown) lists.characterCounters.push(owner)
      if (isShown && isFields(character.professions)) lists.professions.push(owner)
      for (const quest of new Set(character.quests ?? [])) samples.quests.push({ ...owner, quest, done: true })
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      const path = `/characters/${uuid}${error.context.path ?? ''}`
      const misfit = misfitOf(error, '/characters/*')
      quarantined.push({ key, raw: record, path, reason: error.message, misfit })
    }
  }
  const hidden = restricted.includes('characterListAccess') || restricted.includes('huntedCharacterAccess')
  // Otherwise there may be others: the list is empty or not there, or it or some kind of character is hidden.
  return { entities, complete: fieldsOf(characters).length > 0 && !hidden, samples, lists, quarantined }
}

/** Characters whose uuid stands there in two spellings, each with other content: which one is right cannot be known. */
function contradicted(characters: unknown): ReadonlySet<string> {
  const first = new Map<string, unknown>()
  const found = new Set<string>()
  for (const [uuid, record] of fieldsOf(characters)) {
    const one = uuidText(uuid)
    if (!first.has(one)) first.set(one, record)
    else if (!isDeepStrictEqual(first.get(one), record)) found.add(one)
  }
  return found
}

/** What makes a character this one. What moves while it is played is in the samples. */
function traits(key: string, character: Character, odd: readonly OddField[]): Entity {
  const { type, reskin, nickname, level, gamemode, meta, preEconomy, removedStat } = character
  const { names: restricted, odd: oddRules } = readRestrictions(character)
  const [playerUuid, characterUuid] = key.split('/')
  const named = { type, reskin, nickname, level, gamemode, meta, preEconomy, removedStat, restrictions: restricted }
  return {
    key,
    document: {
      ...unnamed(character),
      ...unnamedProfessions(character),
      ...unnamedCounts(character),
      ...named,
    } as Json,
    root: {
      playerUuid,
      characterUuid,
      type,
      reskin: typeof reskin === 'boolean' ? (reskin ? 'true' : null) : reskin,
      nickname,
      level,
      gamemodes: gamemode,
      died: meta?.died,
      preEconomy,
      restricted,
      removedStats: removedStat,
    },
    parts: {},
    odd: [...odd, ...oddRules].map((one) => ({ ...one, anywhere: `/characters/*${one.anywhere}` })),
  }
}

const unnamedTotals = unnamedIn(playerSchema, ['globalData'], true)
const unnamedProfessions = unnamedIn(characterSchema, ['professions'])
const unnamedCounts = unnamedIn(characterSchema, ['dungeons', 'raids', 'pvp'], true)

/** Fields that are neither numbers nor named here. */
function unnamed(character: Character): object {
  const { skillPoints: _s, professions: _p, dungeons: _d, raids: _r, quests: _q, pvp: _v, ...rest } = character
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null && typeof value !== 'number'))
}

type Owner = { readonly playerUuid: string; readonly characterUuid: string }

/** Everything that is counted about a character. Only skills with points are sent, so the others have none. */
function counters(owner: Owner, character: Character): Row[] {
  const { level: _l, professions: _p, skillPoints, ...counted } = character
  const hidden = !skillPoints || Object.values(skillPoints).some((points) => typeof points === 'string')
  const { defense, ...points } = skillPoints ?? {}
  const all = { ...Object.fromEntries(skills.map((skill) => [skill, 0])), ...(defense ? { defence: defense } : {}) }
  const numbers = numbersIn({ ...counted, ...(hidden ? {} : { skillPoints: { ...all, ...points } }) })
  return numbers.map(([counter, value]) => ({ ...owner, counter, value }))
}

function professions(owner: Owner, { professions = {} }: Character): Row[] {
  return Object.entries(professions ?? {}).flatMap(([profession, one]) =>
    one ? [{ ...owner, profession, level: one.level, xpPercent: one.xpPercent }] : [],
  )
}
