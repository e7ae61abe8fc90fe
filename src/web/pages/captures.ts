import { html } from 'hono/html'
import { listFigure, missing } from '../../analytics/report/drawing/figure.ts'
import type { Cell, Table } from '../../analytics/report/drawing/html-table.ts'
import { rosterOf } from '../../analytics/report/guild/roster.ts'
import { captureMatrixFigure } from '../../analytics/report/map/capture-matrix.ts'
import { capturesFigure } from '../../analytics/report/map/captures.ts'
import { readHolders } from '../../analytics/report/map/holds.ts'
import { count, length, moment } from '../../analytics/report/words.ts'
import type { Sql } from '../../db/database.ts'
import { guildLink, link } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'

const LATEST = 50

interface Capture {
  readonly at: Date
  readonly territory: string
  readonly from: string | null
  readonly fromUuid: string | null
  readonly to: string
  readonly toUuid: string
  readonly again: boolean
}

/** The latest captures, of one territory, or by and from one guild, where that is given. */
export async function latestCaptures(
  sql: Sql,
  { territory = null, guild = null }: { readonly territory?: string | null; readonly guild?: string | null },
  most: number,
): Promise<Capture[]> {
  return await sql.query<Capture>(
    `select captured_at as at, territory, from_guild_name as "from", from_guild_uuid::text as "fromUuid",
            to_guild_name as "to", to_guild_uuid::text as "toUuid", is_recapture as again
       from analytics.territory_capture where ($1::text is null or territory = $1)
        and ($2::text is null or to_guild_uuid = $2::text::uuid or from_guild_uuid = $2::text::uuid)
      order by captured_at desc, territory collate "C" limit $3`,
    [territory, guild, most],
  )
}

export function captureTable(captures: readonly Capture[]): Table {
  return {
    columns: ['At (UTC)', 'Territory', 'Taken by', 'From'],
    rows: captures.map(({ at, territory, from, fromUuid, to, toUuid, again }) => [
      at,
      link('territories', territory),
      guildLink(toUuid, to),
      again ? 'itself' : guildLink(fromUuid, from),
    ]),
  }
}

/** `/captures`: who took what from whom in a period. */
export async function capturesPage(visit: Visit): Promise<Page> {
  const { sql } = visit
  const { frame, control } = await shownPeriod(visit, { path: '/captures', of: ['territories'] })
  // One is drawn while the database works for the next.
  const [captures, matrix, latest] = await Promise.all([
    capturesFigure(sql, frame),
    readHolders(sql, frame.to).then((guilds) => captureMatrixFigure(sql, { ...frame, roster: rosterOf(guilds) })),
    latestCaptures(sql, {}, LATEST),
  ])
  const list = listFigure('latest', `The latest ${latest.length}`, captureTable(latest))
  return {
    path: '/captures',
    feed: '/feeds/captures.atom',
    title: captures.title,
    lead: `Territories that changed hands, ${moment(frame.from)} to ${moment(frame.to)}.`,
    control: html`${control}<p class="at"><a href="/records">Records of the map</a></p>`,
    chapters: [
      chapterOf('war', 'Who takes from whom', captures, matrix),
      ...(latest.length > 0 ? [chapterOf('list', 'Captures', list)] : []),
    ],
  }
}

interface MapRecord {
  readonly record: string
  readonly territory: string | null
  readonly uuid: string | null
  readonly name: string | null
  readonly value: number
  readonly from: Date
  readonly to: Date
  readonly quality: string
  readonly most: number | null
}

/** `/records`: the most captures in a day, the longest hold, the largest empire and the most contested place. */
export async function recordsPage({ sql }: Visit): Promise<Page> {
  const records = await sql.query<MapRecord>(
    `select record, territory, guild_uuid::text as uuid, guild_name as name, value, from_time as "from", to_time as "to", quality, at_most as most
       from analytics.territory_record order by record collate "C"`,
  )
  const said = (record: string, value: number | null) =>
    value === null
      ? '?'
      : record === 'longest confirmed hold'
        ? length(value)
        : record === 'largest empire'
          ? count(value, 'territory', 'territories')
          : count(value, 'capture')
  const rows = records.map((one): Cell[] => [
    ...[one.record, one.territory === null ? '' : link('territories', one.territory)],
    one.uuid === null ? '' : guildLink(one.uuid, one.name),
    `${one.quality === 'exact' ? '' : 'at least '}${said(one.record, one.value)}`,
    ...[one.quality === 'exact' ? '' : said(one.record, one.most), one.from, one.to],
  ])
  const columns = ['Record', 'Territory', 'Guild', 'How much', 'At most', 'From (UTC)', 'Until (UTC)']
  const figure =
    records.length === 0
      ? missing('record-list', 'No record of the map is known yet', 'wynnsync sync territories')
      : listFigure('record-list', count(records.length, 'record'), { columns, rows })
  return {
    path: '/records',
    title: records.length === 0 ? 'No record of the map is known yet' : 'Records of the map',
    lead: 'What is certain since the history began; “at least” where it was not watched throughout.',
    chapters: [chapterOf('records', 'Records', figure)],
  }
}
