import { fieldsByRule } from '../../api/schemas/form/field-meta.ts'
import { uuidText } from '../../api/schemas/form/limits.ts'
import { fieldsOf } from '../../api/schemas/form/unknown.ts'
import { characterSchema } from '../../api/schemas/people/characters.ts'
import { playerSchema } from '../../api/schemas/people/players.ts'
import { readRestrictions } from '../../api/schemas/people/restrictions.ts'
import {
  type Fields,
  isFields,
  type KeptTable,
  type Personal,
  type PersonalResponses,
} from '../../sync/declare/resource.ts'
import { fieldOf, textField, uuidField } from '../record.ts'
import { fieldsUnder, hasValue, isAbout, removeFields, ruleName, rulesSent, rulesShown } from '../redaction.ts'

const fieldsOfRules = fieldsByRule(playerSchema)
const profileFields = new Set(Object.keys(playerSchema.shape))
const characterFields = new Set(Object.keys(characterSchema.shape))
/** Shown with the list of characters; every other field falls under `characterDataAccess` (API reference 7.2). */
const lightFields = fieldsByRule(characterSchema).characterListAccess ?? []
const isLight = (name: string) => lightFields.includes(name)

const charactersIn = (profile: unknown) => fieldsOf(fieldOf(profile, 'characters'))
const skillPointsOf = (character: unknown) => fieldsOf(fieldOf(character, 'skillPoints')).map(([, points]) => points)

function isHunted(character: unknown): boolean {
  const modes = fieldOf(character, 'gamemode')
  return Array.isArray(modes) && modes.includes('hunted')
}

/** The player of each profile, with what the profile and its characters say of privacy. */
export const playersIn: Personal['peopleIn'] = ({ records }) =>
  records.map((profile) => {
    const characters = charactersIn(profile).map(([, character]) => character)
    const any = (holds: (character: unknown) => boolean, rule: string) => (characters.some(holds) ? [rule] : [])
    const rules = [profile, ...characters].map((record) => readRestrictions(record))
    // Instead of the points, a sentence that says so (API reference 7.2).
    const locked = any((one) => skillPointsOf(one).some((points) => typeof points === 'string'), 'characterBuildAccess')
    const sure = [...rules.flatMap(({ names, unsure }) => names.filter((name) => !unsure.includes(name))), ...locked]
    const doubted = rules.flatMap(({ unsure }) => unsure).filter((name) => !sure.includes(name))
    return {
      playerUuid: textField(profile, 'uuid') ?? '',
      restricted: [...sure, ...doubted].map(ruleName),
      unsure: doubted.map(ruleName),
      open: rules.flatMap(({ open }) => open).map(ruleName),
      // Rules of characters are in their own records, which a profile may not show.
      namesRules: characters.length > 0 && rules.every(({ namesRules }) => namesRules),
      shows: [
        ...rulesShown(profile, fieldsOfRules),
        ...any((one) => fieldsOf(one).some(([name]) => !isLight(name) && hasValue(one, name)), 'characterDataAccess'),
        ...any((one) => skillPointsOf(one).some((points) => typeof points === 'number'), 'characterBuildAccess'),
        ...any(isHunted, 'huntedCharacterAccess'),
      ],
      sends: rulesSent(profile, fieldsOfRules),
      fields: [profile, ...characters].flatMap((record) => fieldsOf(record).map(([name]) => name)),
    }
  })

function redactProfile(profile: Fields, rule: string): boolean {
  const { characters } = profile
  if (rule === 'huntedCharacterAccess') {
    const hunted = charactersIn(profile).flatMap(([key, character]) => (isHunted(character) ? [key] : []))
    const isActive = hideActive(profile, (uuid) => hunted.some((one) => uuidText(one) === uuidText(uuid)))
    return (isFields(characters) && removeFields(characters, hunted)) || isActive
  }
  const each = (fields: (character: Fields) => readonly string[]) =>
    charactersIn(profile).reduce<boolean>(
      (found, [, one]) => (isFields(one) && removeFields(one, fields(one))) || found,
      false,
    )
  if (rule === 'characterBuildAccess') return each(() => ['skillPoints'])
  if (rule === 'characterDataAccess') return each((one) => Object.keys(one).filter((name) => !isLight(name)))
  const isActive = rule === 'characterListAccess' && hideActive(profile, () => true)
  return removeFields(profile, fieldsUnder(fieldsOfRules, rule)) || isActive
}

/** Removes the character in play, where it is one of these; true when it was there. */
function hideActive(profile: Fields, isOne: (uuid: string) => boolean): boolean {
  const { activeCharacter } = profile
  if (typeof activeCharacter !== 'string' || !isOne(activeCharacter)) return false
  profile.activeCharacter = null
  return true
}

export const profileResponses: PersonalResponses = {
  isOfOne: true,
  rules: [...Object.keys(fieldsOfRules), 'characterDataAccess', 'characterBuildAccess', 'huntedCharacterAccess'],
  archived: [`join sync.raw_answer raw on raw.resource = 'players' and raw.key = who.player_uuid::text`],
  redact: (profile, uuid, rule) => isAbout(profile, uuid) && redactProfile(profile, rule),
  remove: (profile, uuid) => isAbout(profile, uuid) && removeFields(profile, Object.keys(profile)),
  leave(profile, guilds) {
    const uuid = uuidField(profile.guild, 'uuid')
    // One of which only the name is there may be any.
    if (!isFields(profile.guild) || (uuid !== undefined && !guilds.includes(uuid))) return false
    profile.guild = null
    return true
  },
  // What the API sends to refuse a profile is no player's record.
  recordsOf: (profile, uuid) =>
    isAbout(profile, uuid)
      ? [
          { record: profile, known: profileFields },
          ...charactersIn(profile).flatMap(([, one]) =>
            isFields(one) ? [{ record: one, known: characterFields }] : [],
          ),
        ]
      : [],
}

const all = 'true'
const isHuntedRow = `kept.character_uuid in (select one.character_uuid from game.player_character one
                                           where one.player_uuid = kept.player_uuid and 'hunted' = any(one.gamemodes))`
const guildColumns = ['guild_uuid', 'guild_name', 'guild_prefix', 'guild_rank', 'guild_rank_stars']
const ofCharacters = { characterListAccess: all, characterDataAccess: all, huntedCharacterAccess: isHuntedRow }

/** Before the tables that they search to find their rows. */
export const playerTables: readonly KeptTable[] = [
  {
    table: 'game.player_status',
    since: 'observed_at',
    rows: { onlineStatus: all },
    blank: {
      characterListAccess: { columns: ['active_character'] },
      huntedCharacterAccess: {
        columns: ['active_character'],
        where: isHuntedRow.replace('kept.character_uuid', 'kept.active_character'),
      },
    },
  },
  { table: 'game.player_counter', since: 'observed_at', rows: { mainAccess: all } },
  { table: 'game.player_ranking', since: 'observed_at', rows: { mainAccess: all } },
  {
    table: 'game.character_counter',
    since: 'observed_at',
    rows: {
      ...ofCharacters,
      // These come with the list of characters, which has a rule of its own (API reference 7.2).
      characterDataAccess: `kept.counter <> all(array['xp', 'xpPercent', 'totalLevel'])`,
      characterBuildAccess: `starts_with(kept.counter, 'skillPoints')`,
    },
  },
  { table: 'game.character_profession', since: 'observed_at', rows: ofCharacters },
  { table: 'game.character_quest', since: 'observed_at', rows: ofCharacters },
  {
    table: 'game.player_character',
    since: 'valid_from',
    versionsOf: ['player_uuid', 'character_uuid'],
    extraOf: 'players',
    extraFields: {
      characterDataAccess: [...characterFields].filter((name) => !isLight(name)),
      characterBuildAccess: ['skillPoints'],
    },
    absences: 'players/characters',
    rows: { characterListAccess: all, huntedCharacterAccess: isHuntedRow },
    blank: { characterDataAccess: { columns: ['pre_economy'] } },
  },
  {
    table: 'game.player',
    since: 'valid_from',
    versionsOf: ['player_uuid'],
    username: 'username',
    extraOf: 'players',
    extraFields: fieldsOfRules,
    blank: {
      mainAccess: { columns: ['first_join'] },
      guildHistoryAccess: {
        columns: guildColumns,
        // Until 2024 a profile had the name of its guild alone: which guild that was is not known.
        where: `kept.valid_until < 'infinity'
                and (kept.guild_uuid = (select now.guild_uuid from game.player now
                                         where now.player_uuid = kept.player_uuid and now.valid_until = 'infinity')) is not true`,
      },
    },
  },
]
