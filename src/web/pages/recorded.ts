import { html } from 'hono/html'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Cell } from '../../drawing/html-table.ts'
import type { Period } from '../../drawing/period.ts'
import { apiWords, count, levelText, moment, plainWords, shortened } from '../../drawing/words.ts'
import { csvLink, link, searchForm } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { pageOf, sortLink } from '../html/sorted-table.ts'
import { changesFigure } from './what-changed.ts'

interface Column {
  /** Of the statement. */
  readonly name: string
  readonly heading: string
  /** How its value is shown, where not as it is. */
  readonly cell?: (value: Cell) => Cell
  readonly isFalling?: boolean
  /** Whether it is a long text, or true of now alone: what changed in a period is shown without it. */
  readonly isOfNow?: boolean
}

/** Something that is recorded, as a list. */
interface Listed {
  readonly path: string
  readonly one: string
  readonly many: string
  readonly lead: string
  /** What brings it. */
  readonly resource: string
  /** Rows of `analytics.VIEW` are what there is now, those of `analytics.VIEW_history` all that there was; in the SQL here both are `kept`. */
  readonly view: string
  readonly key: readonly string[]
  /** SQL: the columns, one of them called `name`. @param of what follows the names of views */
  readonly shown: (of: '' | '_history') => string
  /** SQL: all of a version that can change; left out: its document. */
  readonly record?: string
  /** SQL: which rows. */
  readonly where?: string
  readonly columns: readonly Column[]
  /** SQL: which of the list are of a period from `$4` to `$5`, of what is about time itself. */
  readonly during?: string
}

const words = (value: Cell): Cell => (typeof value === 'string' ? levelText(apiWords(value)) : (value ?? ''))
const whole = (value: Cell): Cell => value ?? ''
const prose = (value: Cell): Cell => (typeof value === 'string' ? shortened(plainWords(value), 400) : (value ?? ''))
const since: Column = { name: 'since', heading: 'Since (UTC)', isFalling: true, isOfNow: true }
const place: Column = { name: 'place', heading: 'Place (x, y, z)', cell: whole }
const name: Column = { name: 'name', heading: 'Name' }
const at = `concat_ws(', ', kept.x, kept.y, kept.z) as place`

const places = (view: 'raid' | 'camp') => ({
  view,
  key: ['internal_name', 'level'],
  where: 'kept.level = 0',
  shown: (of: '' | '_history') =>
    `coalesce(kept.name, kept.internal_name) as name, kept.difficulty, kept.recommended_level as level, kept.length, ${at},
     (select string_agg(distinct reward.reward, ', ') from analytics.${view}_reward${of} reward
       where reward.internal_name = kept.internal_name and reward.level = kept.level and reward.valid_from = kept.valid_from) as rewards`,
  columns: [
    name,
    { name: 'level', heading: 'Level', cell: whole },
    { name: 'difficulty', heading: 'Difficulty', cell: words },
    { name: 'length', heading: 'Length', cell: words },
    place,
    { name: 'rewards', heading: 'Rewards', cell: whole, isOfNow: true },
    since,
  ],
})

/** Everything that has a page of this kind. */
const listedKinds: readonly Listed[] = [
  {
    path: '/events',
    one: 'world event',
    many: 'world events',
    resource: 'world-events',
    lead: 'World events, and when they are next announced.',
    view: 'world_event',
    key: ['internal_name'],
    shown: (of) =>
      `coalesce(kept.name, kept.internal_name) as name, kept.level, kept.difficulty, kept.length,
       (select min(next.starts_at) from analytics.world_event_occurrence next
         where next.internal_name = kept.internal_name and next.starts_at > ${of === '' ? '$1' : 'kept.valid_from'}) as next,
       (select count(*)::int from analytics.world_event_location${of} place
         where place.internal_name = kept.internal_name and place.valid_from = kept.valid_from) as places`,
    columns: [
      name,
      { name: 'level', heading: 'Level', cell: whole },
      { name: 'difficulty', heading: 'Difficulty', cell: words },
      { name: 'length', heading: 'Length', cell: words },
      { name: 'places', heading: 'Places' },
      { name: 'next', heading: 'Next (UTC)', isOfNow: true },
      since,
    ],
  },
  {
    path: '/raids',
    one: 'raid',
    many: 'raids',
    resource: 'raids',
    lead: 'Raids: where they are, and what they give.',
    ...places('raid'),
  },
  {
    path: '/camps',
    one: 'camp',
    many: 'camps',
    resource: 'camps',
    lead: 'Camps: where they are, and what they give.',
    ...places('camp'),
  },
  {
    path: '/nodes',
    one: 'gathering node',
    many: 'gathering nodes',
    resource: 'gathering-nodes',
    lead: 'Where something can be gathered.',
    view: 'gathering_node',
    key: ['x', 'y', 'z', 'resource'],
    shown: () => `kept.resource as name, kept.kind, kept.level, ${at}`,
    record: `jsonb_build_object('kind', kept.kind, 'level', kept.level, 'angle', kept.angle)`,
    columns: [
      { ...name, heading: 'Resource', cell: words },
      { name: 'kind', heading: 'Kind', cell: words },
      { name: 'level', heading: 'Level', cell: whole },
      place,
      since,
    ],
  },
  {
    path: '/abilities',
    one: 'ability',
    many: 'abilities',
    resource: 'ability-trees',
    lead: 'Abilities of the classes, as their trees have them.',
    view: 'ability',
    key: ['class', 'kind', 'id'],
    where: `kept.kind = 'ability'`,
    shown: () =>
      `coalesce(nullif(kept.name, ''), kept.id) as name, kept.class, kept.archetype, kept.ability_points as points,
       kept.combat_level as level, left(kept.description, 4000) as description`,
    columns: [
      name,
      { name: 'class', heading: 'Class', cell: words },
      { name: 'archetype', heading: 'Archetype', cell: words },
      { name: 'points', heading: 'Points', cell: whole },
      { name: 'level', heading: 'Level', cell: whole },
      { name: 'description', heading: 'What it does', cell: prose, isOfNow: true },
      since,
    ],
  },
  {
    path: '/aspects',
    one: 'aspect',
    many: 'aspects',
    resource: 'aspects',
    lead: 'Aspects, and what their tiers do.',
    view: 'aspect',
    key: ['internal_name'],
    shown: (of) =>
      `coalesce(nullif(kept.name, ''), kept.internal_name) as name, kept.required_class as class, kept.rarity,
       (select left(string_agg(tier.description, ' · ' order by tier.tier), 4000) from analytics.aspect_tier${of} tier
         where tier.internal_name = kept.internal_name and tier.valid_from = kept.valid_from) as tiers`,
    columns: [
      name,
      { name: 'class', heading: 'Class', cell: words },
      { name: 'rarity', heading: 'Rarity', cell: words },
      { name: 'tiers', heading: 'Tiers', cell: prose, isOfNow: true },
      since,
    ],
  },
  {
    path: '/seasons',
    one: 'season',
    many: 'seasons',
    resource: 'seasons',
    lead: 'Seasons of guild wars, those that ran in the period.',
    view: 'season',
    key: ['season'],
    shown: () =>
      `kept.season::text as name, kept.season as number, kept.started_at as began, kept.ends_at as ends, kept.rating_per_hour as hour,
       kept.rating_per_war as war`,
    columns: [
      { name: 'number', heading: 'Season', isFalling: true },
      { name: 'began', heading: 'From (UTC)', isFalling: true },
      { name: 'ends', heading: 'To (UTC)' },
      { name: 'hour', heading: 'Rating for an hour of a territory' },
      { name: 'war', heading: 'Rating for a war' },
    ],
    during: `began < $5 and (ends is null or ends > $4)`,
  },
]

/** The page of one kind: what there is now, or what changed in a period; found by name, sorted by a heading, so many at a time. */
function listPage(kind: Listed): (visit: Visit) => Promise<Page> {
  return async (visit) => {
    const { path, many, columns, during } = kind
    const { frame, control, isWhole } = await shownPeriod(visit, { path, of: [kind.resource], days: Infinity })
    const text = visit.query.get('q') ?? ''
    const isChanges = !isWhole && during === undefined
    const { figure, links, title, lead } = isChanges
      ? await changesFigure(
          visit,
          {
            where: 'true',
            record: 'kept.document',
            ...kind,
            shown: kind.shown('_history'),
            narrowed: `$5 = '' or ${isNamed('$5')}`,
            values: [text],
            columns: columns.filter(({ isOfNow }) => !isOfNow),
          },
          frame,
        )
      : await listOf(visit, kind, isWhole ? undefined : frame)
    return {
      path,
      title: `${title}${text === '' ? '' : ` like ${text}`}`,
      lead,
      control: html`${control}${searchForm(path, [['q', 'Name']], visit.query)}`,
      links,
      chapters: [chapterOf('listed', many[0]?.toUpperCase() + many.slice(1), figure)],
    }
  }
}

/** SQL: whether a text is in the name. */
const isNamed = (text: string) => `strpos(lower(listed.name collate "C"), lower(${text} collate "C")) > 0`

/** What there is now. @param period of what is about time itself: which part of it */
async function listOf({ sql, now, query }: Visit, kind: Listed, period: Period | undefined) {
  const { path, one, many, lead, resource, view, columns } = kind
  const text = query.get('q') ?? ''
  const wanted = query.get('sort') ?? ''
  const isOther = wanted.startsWith('-')
  const by = columns.find((column) => column.name === wanted.replace(/^-/, '')) ?? columns[0]
  const isFalling = by?.isFalling !== isOther && (by?.isFalling || isOther)
  const page = pageOf(path, query)
  // Several may have one name: in one order, or pages would have some of them twice and others never.
  const all = columns.map(({ name: column }) => `listed."${column}"`).join(', ')
  const rows = await sql.query<Record<string, Cell> & { readonly total: number }>(
    `select listed.*, count(*) over ()::int as total
       from (select ${kind.shown('')}${columns.includes(since) ? ', kept.valid_from as since' : ''} from analytics.${view} kept where ${kind.where ?? 'true'}) listed
      where $1::timestamptz is not null and ($2 = '' or ${isNamed('$2')})
        and ($4::timestamptz is null or $5::timestamptz is null${kind.during ? ` or ${kind.during}` : ''})
      order by listed."${by?.name ?? 'name'}" ${isFalling ? 'desc' : 'asc'} nulls last, listed.name collate "C", ${all} limit ${page.size} offset $3`,
    [now, text, page.offset, period?.from ?? null, period?.to ?? null],
  )
  const total = rows[0]?.total ?? 0
  const past = page.past(rows.length)
  const isNone = total === 0 && text === '' && period === undefined && !past
  const title = past ?? (isNone ? `No ${one} was seen yet` : count(total, one, many))
  const heading = ({ name: key, heading: said }: Column) =>
    sortLink(
      { key, heading: said },
      { by: by?.name, isOther, isFalling: isFalling === true },
      { path, query, anchor: 'list' },
    )
  return {
    title,
    lead,
    figure: isNone
      ? missing('list', title, `wynnsync sync ${resource}`)
      : listFigure('list', page.range(rows.length, total) ?? title, {
          columns: columns.map(heading),
          rows: rows.map((row) =>
            columns.map(({ name: column, cell }) => (cell ? cell(row[column] ?? null) : (row[column] ?? null))),
          ),
        }),
    links: page.links(total),
  }
}

/** The pages of all of these. */
export const listPages = listedKinds.map((kind) => ({ path: kind.path, build: listPage(kind) }))

interface QuestRow {
  readonly isSeen: true | null
  readonly quests: number | null
  readonly confirmed: Date | null
  /** Null where nothing changed. */
  readonly at: Date | null
  readonly what: string
  readonly before: number | string | null
  readonly after: number | string | null
  readonly patch: number | null
  readonly total: number
}

/** `/quests?page=`: how many there were at the end of a period, of each class or in all, and what changed in it. */
export async function questsPage(visit: Visit): Promise<Page> {
  const { sql, query } = visit
  const { frame, control, isWhole } = await shownPeriod(visit, { path: '/quests', of: ['quests'], days: Infinity })
  const { size, offset, past, range, links } = pageOf('/quests', query)
  const found = await sql.query<QuestRow>(
    `select latest.*, change.*
       from (select) one
       left join lateral (${
         isWhole
           ? 'select true as "isSeen", quests, confirmed_until as confirmed from analytics.quest_count order by valid_from desc limit 1'
           : `select true as "isSeen", quests, least(confirmed_until, $2) as confirmed from analytics.quest_count_history
               where valid_from < $2 and valid_until >= $2 order by valid_from desc limit 1`
       }) latest on true
       left join lateral (select coalesce(name, key) as what, old_value #>> '{}' as before, new_value #>> '{}' as after, changed_at as at, patch,
                                 count(*) over ()::int as total
                            from analytics.quest_change where changed_at >= $1 and changed_at < $2
                           order by changed_at desc, coalesce(name, key) collate "C" limit ${size} offset $3) change on true`,
    [frame.from, frame.to, offset],
  )
  const latest = found[0]?.isSeen ? found[0] : undefined
  const rows = found.filter(({ at }) => at !== null)
  const none = isWhole ? 'No number of quests was seen yet' : 'No number of quests was seen by then'
  const amount =
    latest?.quests == null
      ? `${latest ? 'The number of quests is not known' : none}`
      : `${count(latest.quests, 'quest')} in the game${isWhole ? '' : `, as seen ${moment(latest.confirmed ?? frame.to, frame.writtenAt)}`}`
  const total = rows[0]?.total ?? 0
  const figures: Figure[] = [
    latest || !isWhole
      ? { id: 'quests', title: amount, lead: 'The API says of quests only how many there are.' }
      : missing('quests', amount, 'wynnsync sync quests'),
    ...(rows.length > 0
      ? [
          listFigure('changes', range(rows.length, total) ?? count(total, 'change'), {
            columns: ['At (UTC)', 'What', 'Before', 'After', 'Patch'],
            rows: rows.map(({ at: changed, what, before, after, patch }) => [
              changed,
              what,
              before,
              after,
              patch === null ? '' : link('patches', String(patch)),
            ]),
            note: csvLink('quest_change', { changed_at: [frame.from, frame.to] }),
          }),
        ]
      : isWhole
        ? []
        : [{ id: 'changes', title: past(rows.length) ?? 'No change was seen in this period' }]),
  ]
  return {
    path: '/quests',
    title: amount,
    lead: 'How many quests there are, and when that changed.',
    control,
    links: links(total),
    chapters: [chapterOf('all', 'Quests', ...figures)],
  }
}
