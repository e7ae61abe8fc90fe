import { html } from 'hono/html'
import type { SqlValue } from '../../db/database.ts'
import { listFigure, missing } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import type { Cell } from '../../drawing/html-table.ts'
import { apiWords, count, levelText } from '../../drawing/words.ts'
import { link, searchForm } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { periodParameters, shownPeriod } from '../html/period.ts'
import { pageOf, sortLink } from '../html/sorted-table.ts'
import { tiers } from './item-card.ts'
import { changesFigure } from './what-changed.ts'

interface Item {
  readonly id: string
  readonly name: string
  readonly type: string | null
  readonly kind: string | null
  readonly tier: string | null
  readonly level: number | null
}

const columns = `kept.internal_name as id, coalesce(kept.display_name, kept.internal_name) as name, kept.type, kept.sub_type as kind, kept.tier,
  kept.level, kept.class_requirement as class`

/** What the list is narrowed by. */
const filters = ['q', 'type', 'tier', 'class', 'least', 'most', 'stat'] as const

export const itemParameters: readonly string[] = [...filters, 'sort', 'page', ...periodParameters]

/** What the list can be sorted by: a column of the statement, and its heading. */
const headings = [
  ['name', 'Item'],
  ['type', 'Type'],
  ['kind', 'Kind'],
  ['tier', 'Tier'],
  ['level', 'Level'],
  ['class', 'Class'],
  ['value', 'Identification'],
] as const

/** SQL: whether an identification, `one`, is the one that is wanted. @param stat the parameter that names it */
const isStat = (stat: string) => `lower(one.identification collate "C") = replace(lower(${stat} collate "C"), ' ', '')`

/** SQL: the best value of the identification that is wanted of a version of an item, `kept`. */
const rolledThen = (stat: string) =>
  `(select max(one.raw)::double precision from analytics.item_identification_history one
     where one.internal_name = kept.internal_name and one.valid_from = kept.valid_from and ${isStat(stat)})`

/** SQL: the best value of the identification that is wanted of each item; found once for all: for each item it would take four times as long. */
const rolledNow = (stat: string) =>
  `left join (select one.internal_name, max(one.raw)::double precision as value from analytics.item_identification one
               where ${isStat(stat)} group by 1) roll using (internal_name)`

/** SQL: which items, `listed`, are wanted. @param first the number of the first of the parameters, in the order of `filters` */
function narrowed(first: number): string {
  const [text, type, tier, wanted, least, most, stat] = filters.map((_, place) => `$${first + place}`)
  const is = (column: string, value: string | undefined) => `lower(${column} collate "C") = lower(${value} collate "C")`
  return `(${text} = '' or strpos(lower(listed.name collate "C"), lower(${text} collate "C")) > 0
                 or strpos(lower(listed.id collate "C"), lower(${text} collate "C")) > 0)
      and (${type} = '' or ${is('listed.type', type)} or ${is('listed.kind', type)})
      and (${tier} = '' or ${is('listed.tier', tier)}) and (${wanted} = '' or ${is('listed.class', wanted)})
      and (${least}::int is null or listed.level >= ${least}) and (${most}::int is null or listed.level <= ${most})
      and (${stat}::text = '' or listed.value is not null)`
}

/** `/items?q=&type=&tier=&class=&least=&most=&stat=`: items there are, or what of them changed in a period; narrowed, and sorted by a heading. */
export async function itemsPage(visit: Visit): Promise<Page> {
  const { query } = visit
  const given = new URLSearchParams([...query].filter(([name]) => filters.some((one) => one === name)))
  const text = query.get('q') ?? ''
  const level = (name: string) => {
    const value = query.get(name) ?? ''
    return /^\d{1,4}$/.test(value) ? Number(value) : null
  }
  const wanted: SqlValue[] = filters.map((name) =>
    name === 'least' || name === 'most' ? level(name) : (query.get(name) ?? ''),
  )
  const { frame, control, isWhole } = await shownPeriod(visit, { path: '/items', of: ['items'], days: Infinity })
  const { figure, links, title, lead } = isWhole
    ? await listOf(visit, wanted, given.size > 0)
    : await changesOf(visit, wanted, frame)
  return {
    path: given.size > 0 ? `/items?${given}` : '/items',
    title: `${title}${text === '' ? '' : ` like ${text}`}`,
    lead,
    control: html`${control}${searchForm('/items', await fieldsOf(visit), query)}`,
    links,
    chapters: [chapterOf('items', 'Items', figure)],
  }
}

/** Every item there is that is wanted. @param isNarrowed whether not all are */
async function listOf({ sql, query }: Visit, wanted: readonly SqlValue[], isNarrowed: boolean) {
  const stat = query.get('stat') ?? ''
  const sort = query.get('sort') ?? ''
  const isOther = sort.startsWith('-')
  const by = headings.find(([name]) => name === sort.replace(/^-/, ''))?.[0] ?? 'name'
  const isNumber = by === 'value' || by === 'level'
  const isFalling = isNumber !== isOther
  const page = pageOf('/items', query)
  const found = await sql.query<
    Item & { readonly class: string | null; readonly value: number | null; readonly total: number }
  >(
    `select listed.*, count(*) over ()::int as total
       from (select ${columns}, ${stat === '' ? 'null::double precision as value' : 'roll.value'} from analytics.item kept ${stat === '' ? '' : rolledNow('$7')}) listed
      where ${narrowed(1)}
      order by listed.${by}${isNumber ? '' : ' collate "C"'} ${isFalling ? 'desc' : 'asc'} nulls last, listed.name collate "C", listed.id collate "C" limit ${page.size} offset $8`,
    [...wanted, page.offset],
  )
  const total = found[0]?.total ?? 0
  const none = missing('list', 'No item was seen yet', 'wynnsync sync items')
  const past = page.past(found.length)
  const isNone = total === 0 && !isNarrowed && !past
  return {
    title: past ?? (isNone ? none.title : count(total, 'item')),
    lead: 'Items by name, type, tier, class, level and identification.',
    links: page.links(total),
    figure: isNone
      ? none
      : listFigure('list', page.range(found.length, total) ?? count(total, 'item'), {
          columns: shownOf(stat).map(([key, heading]) =>
            sortLink({ key, heading }, { by, isOther, isFalling }, { path: '/items', query, anchor: 'list' }),
          ),
          rows: found.map((item): Cell[] => [
            link('items', item.id, item.name),
            wordsOf(item.type),
            wordsOf(item.kind),
            wordsOf(item.tier),
            item.level ?? '',
            item.class ?? '',
            ...(stat === '' ? [] : [item.value]),
          ]),
        }),
  }
}

/** The headings; that of the identification only where one is wanted. */
function shownOf(stat: string): (readonly [string, string])[] {
  return headings.flatMap(([name, heading]): (readonly [string, string])[] =>
    name !== 'value' ? [[name, heading]] : stat === '' ? [] : [[name, apiWords(stat)]],
  )
}

/** What changed in a period of the items that are wanted. */
async function changesOf(visit: Visit, wanted: readonly SqlValue[], frame: Frame) {
  const stat = visit.query.get('stat') ?? ''
  const cell = (value: Cell): Cell => (typeof value === 'string' ? wordsOf(value) : (value ?? ''))
  return await changesFigure(
    visit,
    {
      path: '/items',
      one: 'item',
      many: 'items',
      resource: 'items',
      view: 'item',
      key: ['internal_name'],
      where: 'true',
      shown: `${columns}, ${stat === '' ? 'null::double precision' : rolledThen('$11')} as value`,
      record: 'kept.document',
      narrowed: narrowed(5),
      values: wanted,
      columns: shownOf(stat).map(([name, heading]) => ({
        name,
        heading,
        cell:
          name === 'name'
            ? (value, { id }) => link('items', String(id), String(value))
            : name === 'value'
              ? undefined
              : cell,
      })),
    },
    frame,
  )
}

/** The form, with what is recorded as choices. */
async function fieldsOf({ sql, kept }: Visit): Promise<Parameters<typeof searchForm>[1]> {
  const read = () =>
    sql.query<{
      type: string | null
      kind: string | null
      tier: string | null
      class: string | null
      stat: string | null
    }>(
      // Of the tables: through their views this would take longer than the rest of the page.
      `select distinct type, sub_type as kind, tier, class_requirement as class, null as stat from game.item where valid_until = 'infinity'
        union all
       select null, null, null, null, identification from (select distinct identification from game.item_identification) known`,
    )
  const kinds = await (kept ? kept(read) : read())
  const one = (column: 'type' | 'tier' | 'class' | 'stat') => [...new Set(kinds.flatMap((row) => row[column] ?? []))]
  const said = (names: readonly string[], words: (name: string) => string = wordsOf) =>
    names.map((name) => [name, words(name)] as const)
  const byName = (names: readonly string[]) => names.toSorted()
  const types = byName(one('type')).flatMap((type) => {
    const inside = new Set(kinds.flatMap((row) => (row.type === type && row.kind !== null ? [row.kind] : [])))
    return [...said([type]), ...said(byName([...inside]), (name) => `\u2014 ${wordsOf(name)}`)]
  })
  const rank = (tier: string) => tiers.indexOf(tier.toLowerCase())
  return [
    ['q', 'Name'],
    ['type', 'Type', types],
    ['tier', 'Tier', said(one('tier').toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)))],
    ['class', 'Class', said(byName(one('class')))],
    ['least', 'Level from', 'number'],
    ['most', 'to', 'number'],
    ['stat', 'Identification', said(one('stat'), apiWords).toSorted(([, a], [, b]) => a.localeCompare(b, 'en'))],
  ]
}

const wordsOf = (name: string | null) => (name === null ? '' : levelText(name))

/** The internal names of items by what players call them. */
export async function itemsCalled(sql: Visit['sql'], names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.query<{ name: string; id: string }>(
    `select display_name as name, min(internal_name collate "C") as id from game.item
      where valid_until = 'infinity' and display_name = any ($1::text[]) group by 1`,
    [names],
  )
  return new Map(rows.map(({ name, id }) => [name, id]))
}
