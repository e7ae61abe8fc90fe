import { fieldsOf } from '../form/unknown.ts'
import { type MemberEntry, membersOf } from '../guilds.ts'
import { restrictionsOf } from './restrictions.ts'

/**
 * Which fields of which record each privacy rule hides (API reference 7.3). `guildHistoryAccess` hides nothing that the
 * three records have.
 */
export const fieldGroups = {
  profile: {
    mainAccess: ['globalData', 'featuredStats', 'firstJoin', 'playtime', 'ranking', 'previousRanking'],
    onlineStatus: ['online', 'server', 'lastJoin', 'activeCharacter'],
    characterListAccess: ['characters'],
  },
  member: {
    mainAccess: ['globalData'],
    onlineStatus: ['online', 'server', 'lastJoin'],
    guildHighRankedAccess: ['weekly'],
  },
} as const

/** What of a character is shown with the list of characters; the rest falls under `characterDataAccess` (API reference 7.2). */
export const lightCharacterFields: readonly string[] = [
  ...['type', 'reskin', 'nickname', 'level', 'xp', 'xpPercent', 'totalLevel', 'gamemode', 'meta'],
  ...['restrictions', 'removedStat'],
]

/** What a record of a person says of privacy. */
export interface Openness {
  /** Rules that hide something from us, in camelCase. */
  readonly restricted: readonly string[]
  /** Rules whose fields have values. */
  readonly shows: readonly string[]
  /** Names of the fields of the record, and of its characters. */
  readonly fields: readonly string[]
}

/** What a profile says of privacy, its characters included. Never throws. */
export function opennessOfProfile(profile: unknown): Openness {
  const characters = fieldsOf(fieldNamed(profile, 'characters')).map(([, character]) => character)
  const ofCharacters = characters.flatMap((one) => (hidesSkills(one) ? ['characterBuildAccess'] : []))
  const restricted = [profile, ...characters].flatMap((one) => restrictionsOf(one)).map(knownAs)
  const shows = [
    ...groupsShown(profile, fieldGroups.profile),
    ...(characters.some(hasNumbers) ? ['characterDataAccess'] : []),
    ...(characters.some(hasSkills) ? ['characterBuildAccess'] : []),
    ...(characters.some(isHunted) ? ['huntedCharacterAccess'] : []),
  ]
  const fields = [profile, ...characters].flatMap((one) => fieldsOf(one).map(([name]) => name))
  return { restricted: distinct([...restricted, ...ofCharacters]), shows, fields: distinct(fields) }
}

/** What the records of a guild's members say of privacy, in the order of the answer. Never throws. */
export function opennessOfMembers(guild: unknown): (Openness & { readonly entry: MemberEntry })[] {
  return membersOf({ members: fieldNamed(guild, 'members') }).map((entry) => ({
    entry,
    restricted: restrictionsOf(entry.record).map(knownAs),
    shows: groupsShown(entry.record, fieldGroups.member),
    fields: fieldsOf(entry.record).map(([name]) => name),
  }))
}

/** The rule under the name that profiles use: OAuth calls one `hunted_characters_access` (API reference 7.3). */
function knownAs(rule: string): string {
  return rule === 'huntedCharactersAccess' ? 'huntedCharacterAccess' : rule
}

/** `online: false` is what hiding looks like too: alone, it shows nothing. */
function groupsShown(record: unknown, groups: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(groups).flatMap(([group, names]) =>
    names.some((name) => isShown(record, name)) ? [group] : [],
  )
}

function isShown(record: unknown, name: string): boolean {
  const value = fieldNamed(record, name)
  if (value === undefined || value === null || value === false || value === '') return false
  return typeof value !== 'object' || fieldsOf(value).length > 0
}

function hasNumbers(character: unknown): boolean {
  return fieldsOf(character).some(([name]) => !lightCharacterFields.includes(name) && isShown(character, name))
}

function hasSkills(character: unknown): boolean {
  return fieldsOf(fieldNamed(character, 'skillPoints')).some(([, points]) => typeof points === 'number')
}

/** Instead of the points, a sentence that says so (API reference 7.2). */
function hidesSkills(character: unknown): boolean {
  return fieldsOf(fieldNamed(character, 'skillPoints')).some(([, points]) => typeof points === 'string')
}

function isHunted(character: unknown): boolean {
  const modes = fieldNamed(character, 'gamemode')
  return Array.isArray(modes) && modes.includes('hunted')
}

function fieldNamed(record: unknown, name: string): unknown {
  return fieldsOf(record).find(([one]) => one === name)?.[1]
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)]
}
