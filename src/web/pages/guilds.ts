import { resolveName, UnknownName } from '../../analytics/asking/names.ts'
import { listFigure } from '../../analytics/report/drawing/figure.ts'
import { count } from '../../analytics/report/words.ts'
import { nearest } from '../../base/text/nearest.ts'
import { guildLink, searchForm } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { Problem } from '../http/problems.ts'

interface Guild {
  readonly uuid: string
  readonly name: string
  readonly prefix: string
  readonly level: number | null
  readonly members: number | null
  readonly online: number | null
  readonly territories: number | null
  readonly wars: number | null
}

const columns = `guild_uuid::text as uuid, name, prefix, level, members, online, territories, wars,
  xp_percent::double precision as xp, observed_at as observed`
const most = 200

/** Every guild that is listed or holds a territory, with what the map says it holds now; NULL where the map was never seen. */
const listed = `
  select coalesce(guild.guild_uuid, held.guild_uuid)::text as uuid, coalesce(guild.name, held.name) as name,
         coalesce(guild.prefix, held.prefix) as prefix, guild.level, guild.members, guild.online, guild.wars,
         case when exists (select from analytics.territory) then coalesce(held.territories, 0) end as territories
    from analytics.guild guild
    full join (select guild_uuid, min(guild_name) as name, min(guild_prefix) as prefix, count(*)::int as territories
                 from analytics.territory where guild_uuid is not null group by guild_uuid) held
      on held.guild_uuid = guild.guild_uuid`

/** `/guilds?q=`: guilds by name or prefix, those that hold most territories now first. */
export async function guildsPage({ sql, query }: Visit): Promise<Page> {
  const text = query.get('q') ?? ''
  const found = await sql.query<Guild>(
    `select * from (${listed}) guild
      where $1 = '' or strpos(lower(name collate "C"), lower($1 collate "C")) > 0 or lower(prefix collate "C") = lower($1 collate "C")
      order by lower(prefix collate "C") = lower($1 collate "C") desc, territories desc nulls last, level desc nulls last,
               name collate "C" limit $2`,
    [text, most + 1],
  )
  const shown = found.slice(0, most)
  const amount = found.length > most ? `More than ${most} guilds` : count(found.length, 'guild')
  return {
    path: text === '' ? '/guilds' : `/guilds?q=${encodeURIComponent(text)}`,
    title: `${amount}${text === '' ? '' : ` like ${text}`}`,
    lead: 'Guilds by name or prefix, those that hold most territories now first.',
    control: searchForm('/guilds', [['q', 'Name or prefix']], query),
    chapters: [
      chapterOf(
        'guilds',
        'Guilds',
        listFigure('list', found.length > most ? `The first ${most}` : amount, {
          columns: ['Guild', 'Prefix', 'Level', 'Members', 'Online', 'Territories', 'Wars'],
          rows: shown.map(({ uuid, name, prefix, ...numbers }) => [
            ...[guildLink(uuid, name, prefix), prefix, numbers.level, numbers.members, numbers.online],
            ...[numbers.territories, numbers.wars],
          ]),
        }),
      ),
    ],
  }
}

/** The guild that the path names by uuid, prefix or name. @throws Problem when there is none */
export async function guildNamed({ sql, name, finders }: Pick<Visit, 'sql' | 'name' | 'finders'>) {
  const known = await resolveName(sql, { name: 'guild', type: 'uuid', value: name }, finders).catch(unlessUnknown)
  const holder = await holderNamed(sql, known?.value ?? name)
  const uuid = known?.value ?? holder?.uuid
  const [guild] = await sql.query<Guild & { readonly xp: number | null; readonly observed: Date | null }>(
    `select ${columns} from analytics.guild where guild_uuid::text = lower($1 collate "C")`,
    [uuid ?? ''],
  )
  if (uuid === undefined || !(guild || holder || (await finders.keys.guild?.holders(sql, uuid))?.length))
    throw new Problem('not-found', {
      detail: `guild not found: ${name}`,
      similar: await guildsLike({ sql, finders }, name),
    })
  return { uuid: uuid.toLowerCase(), guild, holder, name: guild?.name ?? holder?.name }
}

/** A guild that is in no list may have held territories. */
async function holderNamed(sql: Visit['sql'], name: string) {
  const [row] = await sql.query<{ uuid: string; name: string; prefix: string | null }>(
    `select guild_uuid::text as uuid, guild_name as name, guild_prefix as prefix from analytics.territory_holder
      where guild_uuid::text = lower($1 collate "C") or guild_prefix = $1 or guild_name = $1 order by held_from desc limit 1`,
    [name],
  )
  return row
}

/** Guilds whose names are written nearly like this: of lists, and those that only hold or held territories. */
async function guildsLike({ sql, finders }: Pick<Visit, 'sql' | 'finders'>, name: string): Promise<string[]> {
  const listed = (await finders.keys.guild?.similar(sql, name)) ?? []
  const rows = await sql.query<{ name: string }>(
    `select distinct guild_name as name from analytics.territory_holder where guild_name is not null limit 5000`,
  )
  const holders = nearest(
    name,
    rows.map((row) => row.name),
  )
  const isListed = (holder: string) => listed.some((one) => one === holder || one.startsWith(`${holder} [`))
  return [...listed, ...holders.filter((holder) => !isListed(holder))]
}

/** What was thrown, unless it says that the name is unknown. */
function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof UnknownName)) throw error
}
