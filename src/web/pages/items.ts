import { html } from 'hono/html'
import { listFigure, missing } from '../../drawing/figure.ts'
import type { Cell } from '../../drawing/html-table.ts'
import { apiWords, count, levelText } from '../../drawing/words.ts'
import { link, searchForm } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { PER_PAGE, pageOf, sortLink } from '../html/sorted-table.ts'

interface Item {
  readonly id: string
  readonly name: string
  readonly type: string | null
  readonly kind: string | null
  readonly tier: string | null
  readonly level: number | null
}

const columns = `internal_name as id, coalesce(display_name, internal_name) as name, type, sub_type as kind, tier, level`

/** What the list is narrowed by, with its name for readers. */
const filters = [
  ['q', 'Name'],
  ['type', 'Type'],
  ['tier', 'Tier'],
  ['class', 'Class'],
  ['least', 'Level from'],
  ['most', 'to'],
  ['stat', 'Identification'],
] as const

export const itemParameters: readonly string[] = [...filters.map(([name]) => name), 'sort', 'page']

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

/** `/items?q=&type=&tier=&class=&least=&most=&stat=`: items by name, type, tier, class, level and identification, sorted by a heading. */
export async function itemsPage({ sql, query }: Visit): Promise<Page> {
  const [text = '', type = '', tier = '', wanted = '', least = '', highest = '', stat = ''] = filters.map(
    ([name]) => query.get(name) ?? '',
  )
  const level = (given: string) => (/^\d{1,4}$/.test(given) ? Number(given) : null)
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
       from (select ${columns}, class_requirement as class, roll.value from analytics.item
              left join lateral (select max(one.raw)::double precision as value from analytics.item_identification one
                                  where $7 <> '' and one.internal_name = item.internal_name
                                    and lower(one.identification collate "C") = replace(lower($7 collate "C"), ' ', '')) roll on true
             where ($1 = '' or strpos(lower(coalesce(display_name, internal_name) collate "C"), lower($1 collate "C")) > 0
                            or strpos(lower(internal_name collate "C"), lower($1 collate "C")) > 0)
               and ($2 = '' or lower($2 collate "C") in (lower(type collate "C"), lower(sub_type collate "C")))
               and ($3 = '' or lower(tier collate "C") = lower($3 collate "C"))
               and ($4 = '' or lower(class_requirement collate "C") = lower($4 collate "C"))
               and ($5::int is null or level >= $5) and ($6::int is null or level <= $6)
               and ($7 = '' or roll.value is not null)) listed
      order by listed.${by}${isNumber ? '' : ' collate "C"'} ${isFalling ? 'desc' : 'asc'} nulls last, listed.name collate "C", listed.id collate "C" limit ${PER_PAGE} offset $8`,
    [text, type, tier, wanted, level(least), level(highest), stat, page.offset],
  )
  const total = found[0]?.total ?? 0
  const given = new URLSearchParams([...query].filter(([name]) => name !== 'sort' && name !== 'page'))
  const none = missing('list', 'No item was seen yet', 'wynnsync sync items')
  const shown = headings.filter(([name]) => name !== 'value' || stat !== '')
  return {
    path: given.size > 0 ? `/items?${given}` : '/items',
    title:
      total === 0 && given.size === 0 ? none.title : `${count(total, 'item')}${text === '' ? '' : ` like ${text}`}`,
    lead: 'Items by name, type (weapon, bow, helmet, ingredient), tier, class, level and identification (walk speed).',
    control: html`${searchForm('/items', filters, query)}${page.links(total)}`,
    chapters: [
      chapterOf(
        'items',
        'Items',
        total === 0 && given.size === 0
          ? none
          : listFigure('list', page.range(found.length, total) ?? count(total, 'item'), {
              columns: shown.map(([key, heading]) =>
                sortLink(
                  { key, heading: key === 'value' ? apiWords(stat) : heading },
                  { by, isOther, isFalling },
                  { path: '/items', query, anchor: 'list' },
                ),
              ),
              rows: found.map((item): Cell[] => [
                ...[
                  link('items', item.id, item.name),
                  wordsOf(item.type),
                  wordsOf(item.kind),
                  wordsOf(item.tier),
                  item.level ?? '',
                  item.class ?? '',
                ],
                ...(stat === '' ? [] : [item.value]),
              ]),
            }),
      ),
    ],
  }
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
