import { type Figure, missing } from '../../analytics/report/drawing/figure.ts'
import { empiresFigure } from '../../analytics/report/map/empires.ts'
import { mapFrameOf } from '../../analytics/report/map/map-frame.ts'
import { count, length, moment } from '../../analytics/report/words.ts'
import { guildLink, link } from '../html/links.ts'
import { chapterOf, frameOf, type Page, type Visit } from '../html/page.ts'
import { Problem } from '../http/problems.ts'
import { captureTable, latestCaptures } from './captures.ts'

interface Territory {
  readonly territory: string
  readonly uuid: string | null
  readonly name: string | null
  readonly prefix: string | null
  readonly since: Date | null
  readonly hq: boolean | null
  readonly treasury: string | null
  readonly defences: string | null
}

const columns = `territory, guild_uuid::text as uuid, guild_name as name, guild_prefix as prefix, held_from as since,
  is_hq as hq, treasury, defences`

/** `/territories`: all of them with their holders, and how much each guild held in the last seven days. */
export async function territoriesPage(visit: Visit): Promise<Page> {
  const { sql } = visit
  const empires = await empiresFigure(sql, await mapFrameOf(sql, await frameOf(visit)))
  const rows = await sql.query<Territory>(`select ${columns} from analytics.territory order by territory`)
  const held = rows.filter(({ uuid }) => uuid !== null)
  const figure: Figure =
    rows.length === 0
      ? missing('list', 'No territory is known yet', 'wynnsync sync territories')
      : {
          id: 'list',
          title: `${count(held.length, 'territory has', 'territories have')} a holder, of ${rows.length}`,
          table: {
            columns: ['Territory', 'Held by', 'Since (UTC)', 'Treasury', 'Defences'],
            rows: rows.map(({ territory, uuid, name, prefix, since, treasury, defences }) => [
              ...[link('territories', territory), guildLink(uuid, name, prefix), since, treasury, defences],
            ]),
          },
          isTableShown: true,
        }
  return {
    path: '/territories',
    title: figure.title,
    lead: 'Every territory and who holds it; above, how many each guild held in the days before.',
    chapters: [
      chapterOf('empires', 'Territories of each guild', empires),
      chapterOf('territories', 'Territories', figure),
    ],
  }
}

interface Hold {
  readonly uuid: string
  readonly name: string | null
  readonly since: Date
  readonly until: Date | null
  readonly seconds: number
}

/** `/territories/NAME`: who holds it, and who held it how long. */
export async function territoryPage({ sql, name, now }: Visit): Promise<Page> {
  const [territory] = await sql.query<Territory>(`select ${columns} from analytics.territory where territory = $1`, [
    name,
  ])
  const holds = await sql.query<Hold>(
    `select guild_uuid::text as uuid, guild_name as name, held_from as since, held_until as until,
            extract(epoch from held_for)::double precision as seconds
       from analytics.territory_hold where territory = $1 order by held_from desc limit 200`,
    [name],
  )
  if (!territory && holds.length === 0) throw new Problem('not-found', { detail: `territory not found: ${name}` })
  const captures = await latestCaptures(sql, { territory: name }, 200)
  return {
    path: `/territories/${encodeURIComponent(name)}`,
    title: titleOf(name, territory, now),
    lead: leadOf(territory),
    chapters: [
      chapterOf('holds', 'Holds', holdsFigure(holds)),
      chapterOf('taken', 'Captures', {
        id: 'captures',
        title: `${count(captures.length, 'capture')} seen${captures.length === 200 ? ', the latest ones' : ''}`,
        table: captureTable(captures),
        isTableShown: captures.length > 0,
      }),
    ],
  }
}

function titleOf(territory: string, row: Territory | undefined, now: Date): string {
  if (!row) return `${territory} is not on the map any more`
  if (row.uuid === null) return `No holder is known of ${territory}`
  const since = row.since ? ` for ${length((now.getTime() - row.since.getTime()) / 1000)}` : ''
  return `${row.name} [${row.prefix}] holds ${territory}${since}`
}

function leadOf(row: Territory | undefined): string {
  if (!row) return 'Who held it, and when.'
  const of = (name: string, value: string | null) => `${name} ${value ?? 'unknown'}`
  return `${of('Treasury', row.treasury)}, ${of('defences', row.defences).toLowerCase()}${row.hq ? ', headquarters of its guild' : ''}.`
}

function holdsFigure(holds: readonly Hold[]): Figure {
  const [first, ...rest] = holds
  if (!first) return missing('holds', 'No hold was seen yet', 'wynnsync sync territories')
  const longest = rest.reduce((a, b) => (b.seconds > a.seconds ? b : a), first)
  return {
    id: 'hold-list',
    title: `Held longest by ${longest.name ?? longest.uuid}: ${length(longest.seconds)} from ${moment(longest.since)}`,
    table: {
      columns: ['Guild', 'From (UTC)', 'Until (UTC)', 'Held for'],
      rows: holds.map(({ uuid, name, since, until, seconds }) => [
        ...[guildLink(uuid, name), since, until ?? 'now', length(seconds)],
      ]),
    },
    isTableShown: true,
  }
}
