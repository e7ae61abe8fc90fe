import { opennessOfMembers, opennessOfProfile } from '../api/schemas/people/field-groups.ts'
import type { KeptTable, Person, Personal } from '../sync/resource.ts'
import { guildListNaming } from './guild-list/tables.ts'
import { guildNaming } from './guilds/tables.ts'
import { fieldOf, textField } from './record.ts'
import { territoryNaming } from './territories/tables.ts'

/*
 * Everything that is kept of people: which table, and what of it falls under which privacy rule (API reference 7.3). A
 * rule is about a player, whoever's answer says so: what a profile hides goes from the guilds' tables too.
 *
 * A table with a player in it that is not listed here fails a test.
 */

const all = 'true'
const isHunted = `kept.character_uuid in (select one.character_uuid from game.player_character one
                                           where one.player_uuid = kept.player_uuid and 'hunted' = any(one.gamemodes))`
/** A membership is history once no answer shows it any more. */
const isFormerGuild = `not exists (select from game.guild_member now
                                    where now.guild_uuid = kept.guild_uuid and now.player_uuid = kept.player_uuid
                                      and now.valid_until = 'infinity')`
const guildColumns = ['guild_uuid', 'guild_name', 'guild_prefix', 'guild_rank', 'guild_rank_stars']
/** All counters of the guilds that the player was in, one by one: an index entry each, instead of all of their members'. */
const countersOfGuilds = `with recursive step(guild_uuid, counter) as (
    select guild.guild_uuid, (select min(one.counter) from game.member_counter one where one.guild_uuid = guild.guild_uuid)
      from (select guild_uuid from game.guild_member where player_uuid = who.player_uuid
             union
            select guild_uuid from game.member_presence where player_uuid = who.player_uuid) guild
    union all
    select step.guild_uuid, (select min(one.counter) from game.member_counter one
                              where one.guild_uuid = step.guild_uuid and one.counter > step.counter)
      from step where step.counter is not null)
  select guild_uuid, counter from step where counter is not null`

const ofCharacters = { characterListAccess: all, characterDataAccess: all, huntedCharacterAccess: isHunted }

/** What counters of members fall under, and which are a player's. */
const ofCounters: Pick<KeptTable, 'rows' | 'narrowed'> = {
  rows: {
    mainAccess: `kept.counter <> all(array['contributed', 'weekly.streak'])`,
    guildHighRankedAccess: `kept.counter = 'weekly.streak'`,
    guildHistoryAccess: isFormerGuild,
  },
  narrowed: { from: countersOfGuilds, where: 'kept.guild_uuid = own.guild_uuid and kept.counter = own.counter' },
}

/** Before the tables that they look into to find their rows. */
export const keptTables: readonly KeptTable[] = [
  { ...ofCounters, table: 'game.member_counter_dip', since: 'fell_at' },
  { ...ofCounters, table: 'game.member_counter', since: 'observed_at' },
  {
    table: 'game.member_presence',
    since: 'observed_at',
    rows: { onlineStatus: all, guildHistoryAccess: isFormerGuild },
  },
  {
    table: 'game.guild_member',
    since: 'valid_from',
    versionsOf: ['guild_uuid', 'player_uuid'],
    username: 'username',
    extraOf: 'guilds',
    rows: { guildHistoryAccess: isFormerGuild },
  },
  { table: 'game.player_listing', since: 'first_listed_at', rows: { onlineStatus: all } },
  { table: 'game.player_hop', since: 'latest', rows: { onlineStatus: all } },
  {
    table: 'game.player_status',
    since: 'observed_at',
    rows: { onlineStatus: all },
    blank: {
      characterListAccess: { columns: ['active_character'] },
      huntedCharacterAccess: {
        columns: ['active_character'],
        where: isHunted.replace('kept.character_uuid', 'kept.active_character'),
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
    rows: { characterListAccess: all, huntedCharacterAccess: isHunted },
    blank: { characterDataAccess: { columns: ['pre_economy'] } },
  },
  {
    table: 'game.player',
    since: 'valid_from',
    versionsOf: ['player_uuid'],
    username: 'username',
    extraOf: 'players',
    blank: {
      mainAccess: { columns: ['first_join'] },
      guildHistoryAccess: {
        columns: guildColumns,
        where: `kept.valid_until < 'infinity'
                and kept.guild_uuid is distinct from (select now.guild_uuid from game.player now
                                                       where now.player_uuid = kept.player_uuid and now.valid_until = 'infinity')`,
      },
    },
  },
]

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const answersAbout = `select 'players', who.player_uuid::text
  union all
 select distinct 'guilds', member.guild_uuid::text from game.guild_member member
  where member.player_uuid = who.player_uuid and member.valid_until = 'infinity'`
const formerGuilds = `select former.guild_uuid
   from (select guild_uuid from game.guild_member where player_uuid = who.player_uuid
          union select guild_uuid from game.member_presence where player_uuid = who.player_uuid
          union select guild_uuid from game.player where player_uuid = who.player_uuid and guild_uuid is not null) former
  where not exists (select from game.guild_member now where now.guild_uuid = former.guild_uuid
                       and now.player_uuid = who.player_uuid and now.valid_until = 'infinity')
    and not exists (select from game.player now where now.guild_uuid = former.guild_uuid
                       and now.player_uuid = who.player_uuid and now.valid_until = 'infinity')`
const everywhere = {
  refusalHides: [],
  growing: ['guildHistoryAccess'],
  answersAbout,
  formerGuilds,
  resources: ['players', 'guilds', 'online-players'],
  naming: [...guildNaming, ...guildListNaming, ...territoryNaming],
  tables: keptTables,
}

/** People in profiles: the player. A refused profile is one whose main part is hidden (API reference 2.5, 7.3). */
export const inProfiles: Personal = {
  ...everywhere,
  refusalHides: ['mainAccess'],
  peopleIn: ({ records }) =>
    merged(records.map((record) => ({ uuid: textField(record, 'uuid'), ...opennessOfProfile(record) }))),
}

/** People in guilds: the members, keyed by uuid or with it in their record. */
export const inGuilds: Personal = {
  ...everywhere,
  peopleIn: ({ records }) =>
    merged(
      records.flatMap((record) =>
        opennessOfMembers(record).map(({ entry, ...openness }) => ({
          uuid: textField(entry.record, 'uuid') ?? entry.key,
          ...openness,
        })),
      ),
    ),
}

/** People in the list of who is online, which shows just that. */
export const inOnlineList: Personal = {
  ...everywhere,
  peopleIn: ({ facts }) => {
    const players = fieldOf(facts, 'players')
    const uuids: unknown[] = Array.isArray(players) ? players : []
    return merged(uuids.map((uuid) => ({ uuid: String(uuid), restricted: [], shows: ['onlineStatus'], fields: [] })))
  },
}

/** Each once; what has no uuid is nobody that is known. */
function merged(told: readonly (Omit<Person, 'playerUuid'> & { readonly uuid: string | undefined })[]): Person[] {
  const people = new Map<string, Person>()
  for (const { uuid, ...one } of told) {
    if (uuid === undefined || !uuidForm.test(uuid)) continue
    const playerUuid = uuid.toLowerCase()
    const { restricted = [], shows = [], fields = [] } = people.get(playerUuid) ?? {}
    people.set(playerUuid, {
      playerUuid,
      restricted: [...new Set([...restricted, ...one.restricted])],
      shows: [...new Set([...shows, ...one.shows])],
      fields: [...new Set([...fields, ...one.fields])],
    })
  }
  return [...people.values()]
}
