import { fieldsByRule } from '../../api/schemas/form/field-meta.ts'
import { uuidText } from '../../api/schemas/form/limits.ts'
import { fieldsOf } from '../../api/schemas/form/unknown.ts'
import { guildMemberSchema, guildSchema, membersOf, memberTotal } from '../../api/schemas/guilds.ts'
import { addRedacted } from '../../api/schemas/people/redacted.ts'
import { readRestrictions, restrictionsOf } from '../../api/schemas/people/restrictions.ts'
import {
  type Fields,
  isFields,
  type KeptTable,
  type Personal,
  type PersonalResponses,
} from '../../sync/declare/resource.ts'
import { fieldOf, textField } from '../record.ts'
import { fieldsUnder, isAbout, removeFields, ruleName, rulesSent, rulesShown } from '../redaction.ts'

const rules = fieldsByRule(guildMemberSchema)
const memberFields = new Set(Object.keys(guildMemberSchema.shape))
const without = (fields: Iterable<string>, name: string) => new Set([...fields].filter((field) => field !== name))

/** Members, keyed by uuid or with it in their record. */
export const membersIn: Personal['peopleIn'] = ({ records }) =>
  records.flatMap((guild) =>
    membersOf({ members: fieldOf(guild, 'members') }).map(({ key, record }) => {
      const { names, open, namesRules, unsure } = readRestrictions(record)
      return {
        playerUuid: textField(record, 'uuid') ?? key,
        restricted: names.map(ruleName),
        open: open.map(ruleName),
        namesRules,
        unsure: unsure.map(ruleName),
        shows: rulesShown(record, rules),
        sends: rulesSent(record, rules),
        fields: fieldsOf(record).map(([name]) => name),
      }
    }),
  )

function ownMembers(guild: Fields, uuid: string) {
  return membersOf({ members: guild.members }).flatMap(({ rank, key, record }) => {
    const isOwn = isFields(record) && (uuidText(key) === uuid || isAbout(record, uuid))
    return isOwn ? [{ rank, key, record }] : []
  })
}

export const guildResponses: PersonalResponses = {
  isOfOne: false,
  rules: Object.keys(rules),
  archived: [
    `join lateral (select guild_uuid from game.guild_member seen where seen.player_uuid = who.player_uuid
                    union select guild_uuid from game.member_presence seen where seen.player_uuid = who.player_uuid) guild on true
     join sync.raw_answer raw on raw.resource = 'guilds' and raw.key = guild.guild_uuid::text`,
    `join sync.raw_answer raw on raw.resource = 'guilds' and raw.status in ('rejected', 'failed')`,
    // A member whose record was quarantined is in no table of members.
    `join sync.quarantine unread on unread.resource = 'guilds' and unread.key like '%/' || who.player_uuid
     join sync.raw_answer raw on raw.resource = 'guilds' and raw.key = split_part(unread.key, '/', 1)`,
    // Of a guild that was quarantined as a whole, no member is in any table.
    `join sync.raw_answer raw on raw.resource = 'guilds' and raw.status = 'partial'
      and raw.key in (select unread.key from sync.quarantine unread where unread.resource = 'guilds')`,
  ],
  redact(guild, uuid, rule) {
    let found = false
    for (const { record } of ownMembers(guild, uuid)) {
      const isCounted = rule === 'onlineStatus' && record.online === true
      found = removeFields(record, fieldsUnder(rules, rule)) || found
      if (isCounted) addRedacted(guild, { online: 1 })
    }
    return found
  },
  remove(guild, uuid) {
    const { members } = guild
    let found = false
    for (const { rank, key, record } of ownMembers(guild, uuid)) {
      if (!isFields(members) || !isFields(members[rank])) continue
      const hidden = restrictionsOf(record).includes('onlineStatus') ? 1 : 0
      addRedacted(guild, { members: 1, online: record.online === true ? 1 : 0, hidden })
      found = removeFields(members[rank], [key]) || found
      // Validation rejects a list that is shorter than its total.
      const total = memberTotal(guild)
      if (total !== null) members.total = total - 1
    }
    return found
  },
  recordsOf: (guild, uuid) => ownMembers(guild, uuid).map(({ record }) => ({ record, known: memberFields })),
  names: {
    nameless: without(Object.keys(guildSchema.shape), 'members'),
    members: { field: 'members', nameless: without([...memberFields, 'rank'], 'username') },
  },
}

/** A membership is history once no response shows it any more. */
const isFormerGuild = `not exists (select from game.guild_member now
                                    where now.guild_uuid = kept.guild_uuid and now.player_uuid = kept.player_uuid
                                      and now.valid_until = 'infinity')`

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

/** Which counters of members fall under which rule, and which are a player's. */
const ofCounters: Pick<KeptTable, 'rows' | 'narrowed'> = {
  rows: {
    mainAccess: `kept.counter <> all(array['contributed', 'weekly.completed', 'weekly.streak'])`,
    guildHighRankedAccess: `kept.counter = any(array['weekly.completed', 'weekly.streak'])`,
    guildHistoryAccess: isFormerGuild,
  },
  narrowed: { from: countersOfGuilds, where: 'kept.guild_uuid = own.guild_uuid and kept.counter = own.counter' },
}

/** Before the tables that they search to find their rows. */
export const memberTables: readonly KeptTable[] = [
  { ...ofCounters, table: 'game.member_counter_dip', since: 'fell_at' },
  { ...ofCounters, table: 'game.member_counter', since: 'observed_at' },
  {
    table: 'game.member_presence',
    since: 'observed_at',
    rows: { onlineStatus: 'true', guildHistoryAccess: isFormerGuild },
  },
  {
    table: 'game.guild_member',
    since: 'valid_from',
    versionsOf: ['guild_uuid', 'player_uuid'],
    username: 'username',
    extraOf: 'guilds',
    extraFields: rules,
    absences: 'guilds/members',
    rows: { guildHistoryAccess: isFormerGuild },
  },
]
