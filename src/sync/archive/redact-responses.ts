import { fieldsOf } from '../../api/schemas/form/unknown.ts'
import { membersOf } from '../../api/schemas/guilds.ts'
import { fieldGroups, lightCharacterFields } from '../../api/schemas/people/field-groups.ts'
import { worldName } from '../../api/schemas/people/players.ts'
import { addRedacted } from '../../api/schemas/people/redacted.ts'
import { restrictionsOf } from '../../api/schemas/people/restrictions.ts'

/** What is to go from an answer: what a rule hides of a player, or `everything`. */
export interface Redaction {
  readonly playerUuid: string
  readonly fieldGroup: string
}

/** Which rules have something in the answers of a resource (API reference 7.3). */
export const redactable: Readonly<Record<string, readonly string[]>> = {
  players: [
    ...Object.keys(fieldGroups.profile),
    'characterDataAccess',
    'characterBuildAccess',
    'huntedCharacterAccess',
    'everything',
  ],
  guilds: [...Object.keys(fieldGroups.member), 'everything'],
  'online-players': ['onlineStatus', 'everything'],
}

/**
 * Takes what is to go out of a body, in place; true when there was something of it. What marks it as hidden stays, and
 * what was counted of it: worlds, totals and a guild's numbers name nobody.
 */
export function redact(body: unknown, resource: string, { playerUuid, fieldGroup }: Redaction): boolean {
  if (!isObject(body) || !redactable[resource]?.includes(fieldGroup)) return false
  const uuid = playerUuid.toLowerCase()
  if (resource === 'players') return isAbout(body, uuid) && stripProfile(body, fieldGroup)
  if (resource === 'guilds') return stripGuild(body, uuid, fieldGroup)
  return stripList(body, uuid)
}

type Fields = Record<string, unknown>

function stripProfile(profile: Fields, group: string): boolean {
  if (group === 'everything') return remove(profile, Object.keys(profile))
  const characters = isObject(profile.characters) ? profile.characters : {}
  if (group === 'huntedCharacterAccess') return remove(characters, Object.keys(characters).filter(hunted(characters)))
  const each = (fieldsIn: (character: Fields) => readonly string[]) =>
    Object.values(characters).reduce<boolean>(
      (found, one) => (isObject(one) && remove(one, fieldsIn(one))) || found,
      false,
    )
  if (group === 'characterBuildAccess') return each(() => ['skillPoints'])
  if (group === 'characterDataAccess')
    return each((one) => Object.keys(one).filter((name) => !lightCharacterFields.includes(name)))
  return remove(profile, fieldsHidden(fieldGroups.profile, group))
}

function hunted(characters: Fields): (key: string) => boolean {
  return (key) => {
    const character = characters[key]
    return isObject(character) && Array.isArray(character.gamemode) && character.gamemode.includes('hunted')
  }
}

function stripGuild(guild: Fields, uuid: string, group: string): boolean {
  let found = false
  for (const { rank, key, record } of membersOf(guild)) {
    const { members } = guild
    if (!isObject(members) || !isObject(record)) continue
    if (key.toLowerCase() !== uuid && !isAbout(record, uuid)) continue
    if (group !== 'everything') {
      const online = group === 'onlineStatus' && record.online === true ? 1 : 0
      found = remove(record, fieldsHidden(fieldGroups.member, group)) || found
      if (online > 0) addRedacted(guild, { online })
    } else if (isObject(members[rank])) {
      const hidden = restrictionsOf(record).includes('onlineStatus') ? 1 : 0
      addRedacted(guild, { members: 1, online: record.online === true ? 1 : 0, hidden })
      found = remove(members[rank], [key]) || found
      // A list that is shorter than it says is not believed.
      if (typeof members.total === 'number') members.total -= 1
    }
  }
  return found
}

/** The total stays: who is not listed any more is hidden. */
function stripList(list: Fields, uuid: string): boolean {
  const { players } = list
  if (!isObject(players)) return false
  const keys = fieldsOf(players).flatMap(([key]) => (key.toLowerCase() === uuid ? [key] : []))
  for (const key of keys) addRedacted(list, { worlds: { [worldName(players[key]) ?? '']: 1 } })
  return remove(players, keys)
}

function fieldsHidden(groups: Readonly<Record<string, readonly string[]>>, group: string): readonly string[] {
  return Object.hasOwn(groups, group) ? (groups[group] ?? []) : []
}

function isAbout(record: Fields, uuid: string): boolean {
  return typeof record.uuid === 'string' && record.uuid.toLowerCase() === uuid
}

function remove(from: Fields, names: readonly string[]): boolean {
  const there = names.filter((name) => Object.hasOwn(from, name))
  for (const name of there) delete from[name]
  return there.length > 0
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
