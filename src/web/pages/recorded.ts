import { html } from 'hono/html'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Cell } from '../../drawing/html-table.ts'
import { apiWords, count, levelText, plainWords, shortened } from '../../drawing/words.ts'
import { link, searchForm } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { PER_PAGE, pageOf, sortLink } from '../html/sorted-table.ts'

interface Column {
  /** Of the statement. */
  readonly name: string
  readonly heading: string
  /** How its value is shown, where not as it is. */
  readonly cell?: (value: Cell) => Cell
  readonly isFalling?: boolean
}

/** Something that is recorded, as a list. */
interface Listed {
  readonly path: string
  readonly one: string
  readonly many: string
  readonly lead: string
  /** What brings it. */
  readonly command: string
  /** Rows with a column `name`; `$1` is now. */
  readonly rows: string
  readonly columns: readonly Column[]
}

const words = (value: Cell): Cell => (typeof value === 'string' ? levelText(apiWords(value)) : (value ?? ''))
const whole = (value: Cell): Cell => value ?? ''
const prose = (value: Cell): Cell => (typeof value === 'string' ? shortened(plainWords(value), 400) : (value ?? ''))
const since: Column = { name: 'since', heading: 'Since (UTC)', isFalling: true }
const place: Column = { name: 'place', heading: 'Place (x, y, z)', cell: whole }
const name: Column = { name: 'name', heading: 'Name' }
const at = `concat_ws(', ', kept.x, kept.y, kept.z) as place`

const places = (view: 'raid' | 'camp') =>
  `select coalesce(kept.name, kept.internal_name) as name, kept.difficulty, kept.recommended_level as level, kept.length, ${at},
          (select string_agg(distinct reward.reward, ', ') from analytics.${view}_reward reward
            where reward.internal_name = kept.internal_name and reward.level = kept.level) as rewards, kept.valid_from as since
     from analytics.${view} kept where kept.level = 0`

const ofPlace: readonly Column[] = [
  ...[
    name,
    { name: 'level', heading: 'Level', cell: whole },
    { name: 'difficulty', heading: 'Difficulty', cell: words },
  ],
  ...[
    { name: 'length', heading: 'Length', cell: words },
    place,
    { name: 'rewards', heading: 'Rewards', cell: whole },
    since,
  ],
]

/** Everything that has a page of this kind. */
export const listedKinds: readonly Listed[] = [
  {
    ...{ path: '/events', one: 'world event', many: 'world events', command: 'wynnsync sync world-events' },
    lead: 'World events, and when they are next announced.',
    rows: `select coalesce(kept.name, kept.internal_name) as name, kept.level, kept.difficulty, kept.length,
                  (select min(next.starts_at) from analytics.world_event_occurrence next
                    where next.internal_name = kept.internal_name and next.starts_at > $1) as next,
                  (select count(*)::int from analytics.world_event_location place where place.internal_name = kept.internal_name) as places,
                  kept.valid_from as since
             from analytics.world_event kept`,
    columns: [
      ...[
        name,
        { name: 'level', heading: 'Level', cell: whole },
        { name: 'difficulty', heading: 'Difficulty', cell: words },
      ],
      ...[
        { name: 'length', heading: 'Length', cell: words },
        { name: 'places', heading: 'Places' },
        { name: 'next', heading: 'Next (UTC)' },
        since,
      ],
    ],
  },
  {
    ...{
      path: '/raids',
      one: 'raid',
      many: 'raids',
      command: 'wynnsync sync raids',
      lead: 'Raids: where they are, and what they give.',
    },
    ...{ rows: places('raid'), columns: ofPlace },
  },
  {
    ...{
      path: '/camps',
      one: 'camp',
      many: 'camps',
      command: 'wynnsync sync camps',
      lead: 'Camps: where they are, and what they give.',
    },
    ...{ rows: places('camp'), columns: ofPlace },
  },
  {
    ...{ path: '/nodes', one: 'gathering node', many: 'gathering nodes', command: 'wynnsync sync gathering-nodes' },
    lead: 'Where something can be gathered.',
    rows: `select kept.resource as name, kept.kind, kept.level, ${at}, kept.valid_from as since from analytics.gathering_node kept`,
    columns: [
      { ...name, heading: 'Resource', cell: words },
      { name: 'kind', heading: 'Kind', cell: words },
      { name: 'level', heading: 'Level', cell: whole },
      place,
      since,
    ],
  },
  {
    ...{ path: '/abilities', one: 'ability', many: 'abilities', command: 'wynnsync sync ability-trees' },
    lead: 'Abilities of the classes, as their trees have them.',
    rows: `select coalesce(nullif(kept.name, ''), kept.id) as name, kept.class, kept.archetype, kept.ability_points as points,
                  kept.combat_level as level, left(kept.description, 4000) as description, kept.valid_from as since
             from analytics.ability kept where kept.kind = 'ability'`,
    columns: [
      ...[
        name,
        { name: 'class', heading: 'Class', cell: words },
        { name: 'archetype', heading: 'Archetype', cell: words },
        { name: 'points', heading: 'Points', cell: whole },
      ],
      ...[
        { name: 'level', heading: 'Level', cell: whole },
        { name: 'description', heading: 'What it does', cell: prose },
        since,
      ],
    ],
  },
  {
    ...{
      path: '/aspects',
      one: 'aspect',
      many: 'aspects',
      command: 'wynnsync sync aspects',
      lead: 'Aspects, and what their tiers do.',
    },
    rows: `select coalesce(nullif(kept.name, ''), kept.internal_name) as name, kept.required_class as class, kept.rarity,
                  (select left(string_agg(tier.description, ' · ' order by tier.tier), 4000) from analytics.aspect_tier tier
                    where tier.internal_name = kept.internal_name) as tiers, kept.valid_from as since
             from analytics.aspect kept`,
    columns: [
      name,
      { name: 'class', heading: 'Class', cell: words },
      { name: 'rarity', heading: 'Rarity', cell: words },
      { name: 'tiers', heading: 'Tiers', cell: prose },
      since,
    ],
  },
  {
    ...{
      path: '/seasons',
      one: 'season',
      many: 'seasons',
      command: 'wynnsync sync seasons',
      lead: 'Seasons of guild wars.',
    },
    rows: `select kept.season::text as name, kept.season as number, kept.started_at as began, kept.ends_at as ends, kept.rating_per_hour as hour,
                  kept.rating_per_war as war from analytics.season kept`,
    columns: [
      { name: 'number', heading: 'Season', isFalling: true },
      { name: 'began', heading: 'From (UTC)', isFalling: true },
      ...[
        { name: 'ends', heading: 'To (UTC)' },
        { name: 'hour', heading: 'Rating for an hour of a territory' },
        { name: 'war', heading: 'Rating for a war' },
      ],
    ],
  },
]

/** The page of one kind: found by name, sorted by a heading, so many at a time. */
export function listPage(kind: Listed): (visit: Visit) => Promise<Page> {
  return async ({ sql, now, query }) => {
    const { path, one, many, lead, command, columns } = kind
    const text = query.get('q') ?? ''
    const wanted = query.get('sort') ?? ''
    const isOther = wanted.startsWith('-')
    const by = columns.find((column) => column.name === wanted.replace(/^-/, '')) ?? columns[0]
    const isFalling = by?.isFalling !== isOther && (by?.isFalling || isOther)
    const page = pageOf(path, query)
    // Several may have one name: in one order, or pages would have some of them twice and others never.
    const all = columns.map(({ name: column }) => `listed."${column}"`).join(', ')
    const found = await sql.query<Record<string, Cell> & { readonly total: number }>(
      `select listed.*, count(*) over ()::int as total from (${kind.rows}) listed
        where $1::timestamptz is not null and ($2 = '' or strpos(lower(listed.name collate "C"), lower($2 collate "C")) > 0)
        order by listed."${by?.name ?? 'name'}" ${isFalling ? 'desc' : 'asc'} nulls last, listed.name collate "C", ${all} limit ${PER_PAGE} offset $3`,
      [now, text, page.offset],
    )
    const total = found[0]?.total ?? 0
    const title = `${count(total, one, many)}${text === '' ? '' : ` like ${text}`}`
    const sorting = { path, query, anchor: 'list' }
    const figure: Figure =
      total === 0 && text === ''
        ? missing('list', `No ${one} was seen yet`, command)
        : listFigure('list', page.range(found.length, total) ?? title, {
            columns: columns.map((column) =>
              sortLink(
                { key: column.name, heading: column.heading },
                { by: by?.name, isOther, isFalling: isFalling === true },
                sorting,
              ),
            ),
            rows: found.map((row) =>
              columns.map(({ name: column, cell }) => (cell ? cell(row[column] ?? null) : (row[column] ?? null))),
            ),
          })
    return {
      path,
      title: total === 0 ? figure.title : title,
      lead,
      control: html`${searchForm(path, [['q', 'Name']], query)}${page.links(total)}`,
      chapters: [chapterOf('listed', many[0]?.toUpperCase() + many.slice(1), figure)],
    }
  }
}

/** `/quests`: how many there are, of each class or in all, and since when. */
export async function questsPage({ sql }: Visit): Promise<Page> {
  const rows = await sql.query<{
    what: string
    before: number | string | null
    after: number | string | null
    at: Date
    patch: number | null
  }>(
    `select coalesce(name, key) as what, old_value #>> '{}' as before, new_value #>> '{}' as after, changed_at as at, patch
       from analytics.quest_change order by changed_at desc, coalesce(name, key) collate "C" limit ${PER_PAGE}`,
  )
  const [latest] = await sql.query<{ quests: number | null; since: Date }>(
    `select quests, valid_from as since from analytics.quest_count order by valid_from desc limit 1`,
  )
  const now =
    latest?.quests == null
      ? `${latest ? 'The number of quests is not known' : 'No number of quests was seen yet'}`
      : `${count(latest.quests, 'quest')} in the game`
  const figures: Figure[] = [
    latest
      ? { id: 'quests', title: now, lead: 'The API says of quests only how many there are.' }
      : missing('quests', now, 'wynnsync sync quests'),
    ...(rows.length > 0
      ? [
          listFigure('changes', count(rows.length, 'change'), {
            columns: ['At (UTC)', 'What', 'Before', 'After', 'Patch'],
            rows: rows.map(({ at: changed, what, before, after, patch }) => [
              ...[changed, what, before, after, patch === null ? '' : link('patches', String(patch))],
            ]),
          }),
        ]
      : []),
  ]
  return {
    path: '/quests',
    title: now,
    lead: 'How many quests there are, and when that changed.',
    chapters: [chapterOf('all', 'Quests', ...figures)],
  }
}
