import { isStorable, isUuid, uuidText } from '../api/schemas/form/limits.ts'
import type { Person, Personal } from '../sync/declare/resource.ts'
import { guildListNaming } from './guild-list/tables.ts'
import { guildResponses, membersIn, memberTables } from './guilds/privacy.ts'
import { guildNaming } from './guilds/tables.ts'
import { boardResponses, boardTables, rankedIn } from './leaderboards/privacy.ts'
import { leaderboardNaming } from './leaderboards/tables.ts'
import { listedIn, listingTables, listResponses } from './online-players/privacy.ts'
import { playersIn, playerTables, profileResponses } from './players/privacy.ts'
import { territoryNaming } from './territories/tables.ts'

/*
 * Everything that is kept of people, by resource. A privacy rule is about a player, whichever response says so: what a
 * profile hides is removed from the guilds' tables too (API reference 7.3).
 *
 * A table with a player in it that is not listed here fails a test.
 */

const responsesAbout = `select 'players', who.player_uuid::text
  union all
 select distinct 'leaderboards', ranked.type from game.leaderboard_place ranked where ranked.player_uuid = who.player_uuid
  union all
 select distinct 'guilds', member.guild_uuid::text from game.guild_member member
  where member.player_uuid = who.player_uuid and member.valid_until = 'infinity'`
const formerGuilds = `select 'guilds', former.guild_uuid::text
   from (select guild_uuid from game.guild_member where player_uuid = who.player_uuid
          union select guild_uuid from game.member_presence where player_uuid = who.player_uuid
          union select guild_uuid from game.player where player_uuid = who.player_uuid and guild_uuid is not null) former
  where not exists (select from game.guild_member now where now.guild_uuid = former.guild_uuid
                       and now.player_uuid = who.player_uuid and now.valid_until = 'infinity')
    and not exists (select from game.player now where now.guild_uuid = former.guild_uuid
                       and now.player_uuid = who.player_uuid and now.valid_until = 'infinity')
  union all
 select '', '' where exists (select from game.player named where named.player_uuid = who.player_uuid and named.valid_until < 'infinity'
                                and named.guild_uuid is null and named.guild_name is not null)`

function personal(peopleIn: Personal['peopleIn'], refusalHides: readonly string[] = []): Personal {
  return {
    peopleIn: (response) => merged(peopleIn(response)),
    refusalHides,
    growing: ['guildHistoryAccess'],
    answersAbout: responsesAbout,
    formerGuilds,
    responses: {
      players: profileResponses,
      guilds: guildResponses,
      'online-players': listResponses,
      leaderboards: boardResponses,
    },
    naming: [...guildNaming, ...guildListNaming, ...territoryNaming, ...leaderboardNaming],
    // The columns that a player's own record fills are removed last: other tables search them to find their rows.
    tables: [...memberTables, ...listingTables, ...boardTables, ...playerTables],
  }
}

/** People in profiles: the player. A refused profile is one whose main part is hidden (API reference 2.5, 7.3). */
export const inProfiles = personal(playersIn, ['mainAccess'])

export const inGuilds = personal(membersIn)

export const inOnlineList = personal(listedIn)

export const onBoards = personal(rankedIn)

/** False for what is no name of a privacy rule and does not fit into an index. Real ones have at most 25 characters. */
function isRuleName(name: string): boolean {
  return isStorable(name) && name.length <= 100
}

const nothingOfPerson = { namesRules: true, restricted: [], open: [], shows: [], sends: [], fields: [] }

/** Each player once; records without a uuid are left out. */
function merged(people: readonly Person[]): Person[] {
  const byUuid = new Map<string, Person>()
  const union = (before: readonly string[], more: readonly string[]) => [...new Set([...before, ...more])]
  for (const one of people) {
    const playerUuid = uuidText(one.playerUuid)
    if (!isUuid(playerUuid)) continue
    const before = byUuid.get(playerUuid)
    const { restricted, open, namesRules, shows, sends, fields } = before ?? nothingOfPerson
    // What one record hides in doubt, another one may surely hide.
    const records = before ? [before, one] : [one]
    const sure = records.flatMap((each) => each.restricted.filter((rule) => !each.unsure?.includes(rule)))
    byUuid.set(playerUuid, {
      playerUuid,
      unsure: records.flatMap(({ unsure = [] }) => unsure).filter((rule) => !sure.includes(rule)),
      restricted: union(restricted, one.restricted.filter(isRuleName)),
      open: union(open, one.open),
      namesRules: namesRules === true && one.namesRules === true,
      shows: union(shows, one.shows),
      sends: union(sends, one.sends),
      fields: union(fields, one.fields.filter(isStorable)),
    })
  }
  return [...byUuid.values()]
}
