/** Whether a name or prefix is another one, where both were sent. */
const isOther = (one: string, columns: readonly string[]) =>
  columns.map((name) => `now.${name} <> ${one}.${name}`).join(' or ')

/** The last response before one about the same. */
const responseBefore = (resource: string, key: string) => `(select max(one.observed_at) from sync.observation one
        where one.resource = '${resource}' and one.key = ${key} and one.status in ('ok', 'unchanged', 'partial')
          and one.observed_at < changed.observed)`

/**
 * Versions with another name than the one before. A name stands in two tables, and one of them may be late: it is news only where the
 * latest of both was another. Parts: the table with the new name, what it is compared with, and how a change leads to it.
 */
function renamedIn(
  {
    table,
    tables,
    key,
    columns,
  }: { table: string; tables: readonly string[]; key: string; columns: readonly string[] },
  { given, guild, notBefore }: { given: string; guild: string; notBefore: string },
): string {
  const latest = (from: readonly string[]) => `(select ${columns.map((name) => `one.${name}`).join(', ')} from (
      ${from.map((one) => `select ${columns.join(', ')}, valid_from from ${one} where ${key} = now.${key}`).join(' union all ')}) one
      where one.valid_from < now.valid_from and one.${columns[0]} is not null order by one.valid_from desc limit 1)`
  return `
select changed.number, changed."writtenAt", changed.observed as at, now.${key}::text as uuid, ${guild}::text as guild,
       now.${columns[0]} as name, before.${columns[0]} as was, ${columns[1] ? 'coalesce(now.prefix, before.prefix)' : 'null'} as prefix,
       ${columns[1] ? 'before.prefix' : 'null'} as "wasPrefix", ${notBefore} as "notBefore"
  from changed
  join ${table} now on now.valid_from = changed.observed and ${given}
 cross join lateral ${latest([table])} own
 cross join lateral ${latest(tables)} before
 where (${isOther('own', columns)}) and (${isOther('before', columns)})`
}

const guildNames = { tables: ['game.guild', 'game.guild_listing'], key: 'guild_uuid', columns: ['name', 'prefix'] }
const playerNames = { tables: ['game.player', 'game.guild_member'], key: 'player_uuid', columns: ['username'] }

/**
 * Other names of guilds, but not where players alone are asked for, and of players. $2: guilds, $3: players.
 * @param changed the changes, as SQL that others follow
 */
export const renamesSql = (changed: string, isNotRemoved: (player: string) => string) => `${changed}
-- Responses about several players can speak for the same second.
select distinct on (uuid, at) * from (${[
  renamedIn(
    { table: 'game.guild_listing', ...guildNames },
    {
      given: `changed.resource = 'guild-list' and ($2::text[] is null and $3::text[] is null or now.guild_uuid::text = any($2))`,
      guild: 'now.guild_uuid',
      notBefore: `analytics.whole_response_before('guild-list', changed.observed)`,
    },
  ),
  renamedIn(
    { table: 'game.guild', ...guildNames },
    {
      given: `changed.resource = 'guilds' and now.guild_uuid = changed.key::uuid
         and ($2::text[] is null and $3::text[] is null or changed.key = any($2))`,
      guild: 'now.guild_uuid',
      notBefore: responseBefore('guilds', 'changed.key'),
    },
  ),
  renamedIn(
    { table: 'game.guild_member', ...playerNames },
    {
      given: `changed.resource = 'guilds' and now.guild_uuid = changed.key::uuid and ($2::text[] is null or changed.key = any($2))
         and ($3::text[] is null or now.player_uuid::text = any($3)) and ${isNotRemoved('now.player_uuid')}`,
      guild: 'now.guild_uuid',
      notBefore: responseBefore('guilds', 'changed.key'),
    },
  ),
  // Which player a change is about is not in it: only those that are named are looked up.
  renamedIn(
    { table: 'game.player', ...playerNames },
    {
      given: `changed.resource = 'players' and ${isNotRemoved('now.player_uuid')}
         and now.player_uuid in (select one::uuid from unnest($3::text[]) one where one ~ '^[0-9a-f-]{36}$')`,
      guild: 'null',
      notBefore: responseBefore('players', 'now.player_uuid::text'),
    },
  ),
].join(' union all ')}) found order by uuid, at, number`
