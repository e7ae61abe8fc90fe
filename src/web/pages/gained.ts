import * as Plot from '@observablehq/plot'
import { html } from 'hono/html'
import { guildColour } from '../../drawing/colours.ts'
import { draw, type Picture } from '../../drawing/draw.ts'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import type { Cell, Markup } from '../../drawing/html-table.ts'
import { stepOf } from '../../drawing/period.ts'
import { timeAxis, timeMargins } from '../../drawing/time-axis.ts'
import { apiWords, compact, count, moment, number, shortened } from '../../drawing/words.ts'
import { resolveName } from '../../questions/asking/names.ts'
import { csvLink, guildLink, link } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { Problem } from '../http/problems.ts'

/** What counters belong to, with the resources whose responses have them; other kinds are not shown. */
const kinds = {
  guild: { one: 'Guild', many: 'Guilds', of: 'guilds' },
  member: { one: 'Member', many: 'Members', of: 'guilds' },
  player: { one: 'Player', many: 'Players', of: 'players' },
} as const
type Kind = keyof typeof kinds
const kindNames = Object.keys(kinds) as readonly Kind[]

interface Counter {
  readonly kind: Kind
  readonly counter: string
  readonly unit: string | null
  readonly meaning: string
}

interface Gain {
  /** Null of one who was asked for. */
  readonly place: number | null
  readonly entity: string
  readonly name: string | null
  readonly gained: number | null
  readonly most: number | null
  readonly quality: string
  readonly found_by: string | null
}

/** What people ask for most comes first, where it rose. */
const usualCounters = ['wars', 'playtime', 'level']

/** So many counters are tried until one rose in the period. */
const TRIED_COUNTERS = 6
/** So many gainers are listed. */
const LISTED_GAINERS = 50
/** So many steps of a period are drawn. */
const DRAWN_STEPS = 60

/**
 * `/gained?kind=&counter=&entity=&from=&to=`: who gained most of a counter in a period, how it developed and the best times of one guild or
 * player, of the first without one, and who was first to a number.
 */
export async function gainedPage(visit: Visit): Promise<Page> {
  const { sql, query, people } = visit
  const kind = kindOf(query)
  const shown = kindNames.filter((one) => people || one === 'guild')
  const some = await sql.query<Counter>(
    `select kind, counter, unit, meaning from analytics.counter where kind = $1 and kind = any ($2::text[])
      order by counter collate "C"`,
    [kind, shown],
  )
  if (some.length === 0) {
    const none = missing('none', 'Nothing is counted yet', 'wynnsync sync guilds')
    return { path: '/gained', title: none.title, lead: leadText, chapters: [chapterOf('gained', 'Gains', none)] }
  }
  const { frame, control, kept } = await shownPeriod(visit, { path: '/gained', of: [kinds[kind].of] })
  const found = await gainsOf(visit, some, frame)
  if (!found)
    throw new Problem('bad-argument', {
      detail: `counter not found: ${kind} ${query.get('counter')}`,
      argument: 'counter',
    })
  const { chosen, gains, own } = found
  const first = own ?? gains[0]
  // One is drawn while the database works for the next.
  const about = first
    ? await Promise.all([
        firstsFigure(visit, { chosen, first, frame }),
        timelineFigure(sql, chosen, { first, frame }),
        bestFigure(sql, chosen, first),
      ])
    : []
  const [firsts, ...series] = about
  return {
    path: `/gained?${new URLSearchParams({ kind, counter: chosen.counter })}`,
    title: titleOf(first, chosen, own !== undefined),
    lead: `${moment(frame.from, frame.writtenAt)} to ${moment(frame.to, frame.writtenAt)} UTC. ${chosen.meaning.replace(/ NULL:.*$/, '')}`,
    control: html`${kindLinks(await countedKinds(visit, shown), chosen, frame)}${counterForm(some, { chosen, own }, query)}${control}<p class="at note">Of the map: <a href="${kept('/records')}">records of captures, holds and empires</a>. Of members, characters, professions and leaderboards: <a href="/api#top_gained">by the API</a></p>`,
    chapters: [
      chapterOf('gained', 'Who gained most', gainsFigure(chosen, gains, frame)),
      ...(firsts ? [chapterOf('records', 'Records and firsts', ...series, firsts)] : []),
    ],
  }
}

interface Gains {
  readonly chosen: Counter
  readonly gains: readonly Gain[]
  /** Of the guild or player that the address names. */
  readonly own: Gain | undefined
}

/** The gains of the counter that the address names; without one, of the first that rose. */
async function gainsOf(visit: Visit, some: readonly Counter[], frame: Frame): Promise<Gains | undefined> {
  const { sql, query } = visit
  const name = query.get('entity') ?? ''
  const given = query.get('counter')
  const usual = usualCounters.flatMap((counter) => some.filter((one) => one.counter === counter))
  const tried =
    given === null
      ? [...new Set([...usual, ...some])].slice(0, TRIED_COUNTERS)
      : some.filter(({ counter }) => counter === given)
  const kind = some[0]?.kind ?? 'guild'
  const entity = name === '' ? undefined : await entityOf(visit, kind, name)
  let last: Gains | undefined
  for (const chosen of tried) {
    const of = [kind, chosen.counter]
    const [own] =
      entity === undefined
        ? []
        : await sql.query<Gain>(
            `select null::int as place, entity, name, gained, at_most as most, quality, null as found_by
               from analytics.gained($1, $2, $3, $4, $5)`,
            [...of, entity, frame.from, frame.to],
          )
    const isLast = chosen === tried.at(-1)
    if (own && !own.gained && !isLast) continue
    const gains = await sql.query<Gain>(
      // Without the coverage that top_gained has.
      `select top.place, concat_ws('/', top.owner, top.part) as entity, called.name, top.gained, top.at_most as most, top.quality, top.found_by
         from analytics.counter_top($1, $2, $3, $4, ${LISTED_GAINERS}) top
        cross join lateral (select analytics.counted_name($1, top.owner, top.part) as name offset 0) called
        order by top.place, called.name collate "C"`,
      [...of, frame.from, frame.to],
    )
    if (own?.gained || (!own && gains.length > 0)) return { chosen, gains, own }
    // Where no counter rose, the one that is asked for most is shown.
    last ??= { chosen, gains, own }
  }
  return last
}

/** A guild or a player by uuid or name; a member by both, as `guild/player`. */
async function entityOf({ sql, finders }: Visit, kind: Kind, name: string): Promise<string> {
  const uuidOf = async (of: string, value: string) =>
    String((await resolveName(sql, { name: of, type: 'uuid', value }, finders)).value)
  if (kind !== 'member') return await uuidOf(kind, name)
  const [, guild = '', player = ''] = /^(.*)\/([^/]*)$/.exec(name) ?? []
  if (guild === '' || player === '')
    throw new Problem('bad-argument', {
      detail: 'entity must be a guild and a member, as guild/player',
      argument: 'entity',
    })
  return `${await uuidOf('guild', guild)}/${await uuidOf('player', player)}`
}

function titleOf(first: Gain | undefined, counter: Counter, isOwn: boolean): string {
  const name = first?.name ?? (isOwn ? 'this one' : 'Somebody')
  const { noun, unit } = wordsOf(counter)
  if (isOwn && first?.gained === null) return `What ${name} gained of ${noun} in this period is not known`
  if (isOwn && first) return `${name} gained ${amountText(qualified(first), counter)}`
  return first?.gained
    ? `${name} gained most ${noun}: ${qualified(first)}${unit}`
    : `No gain of ${noun} is known in this period`
}

/** How a counter is called, and its unit where the name does not say it: `playtime` and ` hours`, but `wars` alone. */
function wordsOf({ counter, unit }: Counter): { readonly noun: string; readonly unit: string } {
  if (counter === 'online') return { noun: 'members online', unit: '' }
  if (counter === 'contributed') return { noun: 'contributed experience', unit: '' }
  const what = apiWords(counter)
  if (unit === `${what}s`) return { noun: unit, unit: '' }
  return { noun: what, unit: unit === null || unit === 'times' || what.includes(unit) ? '' : ` ${unit}` }
}

/** `3 wars`, `1.5 hours of playtime`. */
function amountText(amount: string, counter: Counter): string {
  const { noun, unit } = wordsOf(counter)
  if (unit !== '') return `${amount}${unit} of ${noun}`
  return `${amount} ${amount.split(' ').at(-1) === '1' && noun === counter.unit ? noun.replace(/s$/, '') : noun}`
}

function headingOf(counter: Counter): string {
  const { noun, unit } = wordsOf(counter)
  return unit === '' ? noun : `${noun} (${unit.trim()})`
}

const leadText = 'Who gained most of any counter in any period, the best times, and who was first to a number.'

/** The kind that the address names. */
function kindOf(query: URLSearchParams): Kind {
  const kind = query.get('kind') ?? 'guild'
  const known = kindNames.find((one) => one === kind)
  if (known === undefined)
    throw new Problem('bad-argument', {
      detail: `kind must be one of ${kindNames.join(', ')}`,
      argument: 'kind',
    })
  return known
}

/** `at least 12` where responses do not show all of it. */
function qualified({ gained, quality }: Pick<Gain, 'gained' | 'quality'>): string {
  return `${quality === 'exact' ? '' : 'at least '}${compact(gained)}`
}

/** The kinds of which something was counted: which counters a kind has takes long to find, and is not asked of those that are only linked. */
async function countedKinds({ sql }: Visit, shown: readonly Kind[]): Promise<Kind[]> {
  const rows = await sql.query<{ kind: Kind }>(
    `select kind from (values ('guild', true), ('member', exists (select from game.member_counter)),
                              ('player', exists (select from game.player_counter))) of_kind(kind, is_counted)
      where is_counted and kind = any ($1::text[])`,
    [shown],
  )
  return kindNames.filter((kind) => rows.some((row) => row.kind === kind))
}

/** The other kinds, of the same period. */
function kindLinks(counted: readonly Kind[], chosen: Counter, { from, to }: Frame): Markup {
  const period = { from: from.toISOString(), to: to.toISOString() }
  return html`<nav class="period" aria-label="Whose counters">${counted.map(
    (kind) =>
      html`<a href="/gained?${new URLSearchParams({ kind, ...(kind === chosen.kind ? { counter: chosen.counter } : {}), ...period })}" rel="nofollow"${kind === chosen.kind ? html` aria-current="true"` : ''}>${kinds[kind].many}</a>`,
  )}</nav>`
}

/** Works without a script. */
function counterForm(
  some: readonly Counter[],
  { chosen: { kind, counter }, own }: Pick<Gains, 'chosen' | 'own'>,
  query: URLSearchParams,
): Markup {
  const kept = ['from', 'to'].flatMap((name) => (query.has(name) ? [[name, query.get(name)] as const] : []))
  return html`<form action="/gained"><input type="hidden" name="kind" value="${kind}">${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label>Counter <select name="counter">${some.map((one) => html`<option value="${one.counter}"${one.counter === counter ? html` selected` : ''}>${wordsOf(one).noun}</option>`)}</select></label>
<label>${kinds[kind].one} <input name="entity" size="14" value="${(kind === 'member' ? null : own?.name) ?? query.get('entity') ?? ''}" placeholder="${kind === 'member' ? 'all, or guild/player' : 'all'}"></label>
<label>First to <input name="value" size="10" inputmode="numeric" value="${query.get('value') ?? ''}" placeholder="a number"></label><button>Show</button></form>`
}

function gainsFigure(chosen: Counter, gains: readonly Gain[], { from, to }: Frame): Figure {
  const { kind, counter } = chosen
  const known = gains.filter(({ gained }) => gained !== null && gained > 0)
  if (known.length === 0) {
    return missing(
      'gains',
      `No gain of ${wordsOf(chosen).noun} is known in this period`,
      `wynnsync sync ${kinds[kind].of}`,
    )
  }
  const csv = csvLink('top_gained', { kind, counter, from_time: from, to_time: to, n: 1000 })
  return {
    id: 'gains',
    title: `${gains.length === LISTED_GAINERS ? 'At least ' : ''}${count(known.length, kind)} gained some`,
    lead: `What is certain. With “at least”, responses do not show all of the period; hidden numbers are unknown, not zero.${
      known[0]?.found_by === 'all'
        ? ''
        : ' Those who may be first were found at a few instants: one whose counter began again in between may be missing.'
    }`,
    picture: barsOf(kind, known.slice(0, 15)),
    table: {
      columns: ['Place', kinds[kind].one, headingOf(chosen), 'At most', 'How sure'],
      rows: known.map((one) => [one.place, nameCell(kind, one), one.gained, one.most, one.quality.replace('_', ' ')]),
      note: gains.length === LISTED_GAINERS ? html`The first ${LISTED_GAINERS}; ${csv} of up to 1,000.` : csv,
    },
    isTableShown: true,
  }
}

function nameCell(kind: Kind, { entity, name }: Pick<Gain, 'entity' | 'name'>): Cell {
  return kind === 'guild' ? guildLink(entity, name) : link('players', entity.split('/').at(-1) ?? '', name ?? entity)
}

function barsOf(kind: Kind, gains: readonly Gain[]): Picture {
  const label = ({ place, name }: Gain) => `${place}. ${shortened(name ?? '?', 24)}`
  const most = Math.max(...gains.map(({ gained }) => gained ?? 0))
  return draw('What the first gained, as bars.', ({ isNarrow }) => ({
    height: gains.length * 24 + 10,
    marginLeft: isNarrow ? 130 : 190,
    marginRight: isNarrow ? 60 : 80,
    marginTop: 4,
    marginBottom: 4,
    x: { axis: null, domain: [0, most] },
    y: { domain: gains.map(({ entity }) => entity), axis: null },
    marks: [
      Plot.barX(gains, {
        x: 'gained',
        y: 'entity',
        insetTop: 3,
        insetBottom: 3,
        fill: ({ name }: Gain) => (kind === 'guild' && name !== null ? guildColour(name) : 'var(--g4)'),
        fillOpacity: ({ quality }: Gain) => (quality === 'exact' ? 1 : 0.6),
        title: (one: Gain) => `${one.name ?? '?'}: ${qualified(one)}`,
      }),
      Plot.text(gains, {
        x: 0,
        y: 'entity',
        text: (one: Gain) => (isNarrow ? shortened(label(one), 20) : label(one)),
        textAnchor: 'end',
        dx: -6,
        fill: 'var(--ink)',
      }),
      Plot.text(gains, {
        x: 'gained',
        y: 'entity',
        text: ({ gained, quality }: Gain) => `${quality === 'exact' ? '' : '≥ '}${compact(gained)}`,
        textAnchor: 'start',
        dx: 4,
        fill: 'var(--ink)',
      }),
    ],
  }))
}

/** What the counter was when each step began, and how much it rose in it. */
async function timelineFigure(
  sql: Visit['sql'],
  chosen: Counter,
  { first: { entity, name }, frame }: { readonly first: Gain; readonly frame: Frame },
): Promise<Figure> {
  const id = 'timeline'
  const { kind, counter } = chosen
  const step = stepOf(frame, DRAWN_STEPS, 3600)
  const rows = await sql.query<{ at: Date; value: number | null; gained: number | null; quality: string }>(
    `select at, value, gained, quality from analytics.timeline($1, $2, $3, $4, $5, make_interval(secs => $6))`,
    [kind, counter, entity, frame.from, frame.to, step],
  )
  const words = wordsOf(chosen).noun
  const known = rows.filter(({ value }) => value !== null)
  const { from, to } = frame
  if (known.length === 0) return { id, title: `How ${words} of ${name ?? 'the first'} developed is not known` }
  return {
    id,
    title: `How ${words} of ${name ?? 'the first'} developed`,
    lead: `What it was at each moment${chosen.unit === null || chosen.unit === 'times' ? '' : `, in ${chosen.unit}`}; nothing is drawn where no response lies close before.`,
    picture: draw(`${words} over time.`, (sheet) => ({
      height: 160,
      ...timeMargins(sheet),
      x: timeAxis(frame, sheet),
      y: { label: null, ticks: 4, tickFormat: compact, grid: true, nice: true, inset: 5 },
      marks: [
        Plot.lineY(rows, { x: 'at', y: 'value', stroke: 'var(--g4)', strokeWidth: 2 }),
        Plot.dot(known, { x: 'at', y: 'value', r: 2.5, fill: 'var(--g4)' }),
      ],
    })),
    table: {
      columns: ['At (UTC)', headingOf(chosen), 'Gained until the next', 'How sure'],
      rows: rows.map(({ at, value, gained, quality }) => [at, value, gained, quality.replace('_', ' ')]),
      note: csvLink('timeline', {
        kind,
        counter,
        entity,
        from_time: from,
        to_time: to,
        step: `${step} seconds`,
      }),
    },
  }
}

async function bestFigure(sql: Visit['sql'], chosen: Counter, { entity, name }: Gain): Promise<Figure> {
  const { kind, counter } = chosen
  const best = await sql.query<{ period: string; from: Date | null; gained: number | null; quality: string }>(
    `select period, from_time as "from", gained, quality from analytics.best($1, $2, $3)`,
    [kind, counter, entity],
  )
  const known = best.filter(({ gained }) => gained !== null)
  if (known.length === 0) return { id: 'best', title: `No best day of ${name ?? 'the first'} is known` }
  return listFigure('best', `The best times of ${name ?? 'the first'}`, {
    columns: ['Best', 'From (UTC)', headingOf(chosen), 'How sure'],
    rows: known.map(({ period, from, gained, quality }) => [period, from, gained, quality.replace('_', ' ')]),
    note: csvLink('best', { kind, counter, entity }),
  })
}

interface Firsts {
  readonly chosen: Counter
  readonly first: Gain
  readonly frame: Frame
}

async function firstsFigure({ sql, query }: Visit, { chosen, first, frame }: Firsts): Promise<Figure> {
  const { kind, counter } = chosen
  const text = query.get('value') ?? ''
  if (text === '') {
    const round = await roundReached(sql, { kind, counter, entity: first.entity, frame })
    if (round === undefined) return { id: 'firsts', title: 'No number is known that was reached' }
    // It may take all of the history to know: a page that is opened often only leads there.
    const asked = new URLSearchParams([...query].filter(([name]) => name !== 'value'))
    asked.set('counter', counter)
    asked.set('value', `${round}`)
    const title = `Who was first to ${amountText(number(round), chosen)}`
    return {
      id: 'firsts',
      title,
      lead: html`<a href="/gained?${asked}#firsts" rel="nofollow">Show it</a>, or any other number by the form above.`,
    }
  }
  const value = Number(text)
  if (!Number.isFinite(value) || value < 0)
    throw new Problem('bad-argument', { detail: 'value must be a number', argument: 'value' })
  const rows = await sql.query<{
    place: number
    entity: string
    name: string | null
    at: Date | null
    after: Date | null
  }>(
    `select place, entity, name, at, not_before as after from analytics.first_to($1, $2, $3, 10) order by place, name collate "C"`,
    [kind, counter, value],
  )
  if (rows.length === 0)
    return { id: 'firsts', title: `No response shows one that reached ${amountText(number(value), chosen)}` }
  const amount = amountText(number(value), chosen)
  const before = rows.filter(({ after }) => after === null).length
  // Where the first responses about several showed it already, which of them was first is not known.
  const title =
    before < 2
      ? `First seen with ${amount}: ${rows[0]?.name ?? 'somebody'}`
      : `${count(before, kind)} had ${amount} when first seen`
  return listFigure('firsts', title, {
    columns: ['Place', kinds[kind].one, 'Seen at (UTC)', 'Not yet at (UTC)'],
    rows: rows.map((one) => [one.place, nameCell(kind, one), one.at, one.after]),
    note: html`Without a “not yet”, the first response about it showed the number already. ${csvLink('first_to', { kind, counter, value, n: 1000 })}`,
  })
}

/** The last of 1, 2, 5, 10, 20, 50 and so on that who gained most has reached. */
async function roundReached(
  sql: Visit['sql'],
  {
    kind,
    counter,
    entity,
    frame,
  }: { readonly kind: string; readonly counter: string; readonly entity: string; readonly frame: Frame },
): Promise<number | undefined> {
  const rows = await sql.query<{ value: number | null }>(
    `select value from analytics.counter_series($1, split_part($2, '/', 1)::uuid, nullif(split_part($2, '/', 2), '')::uuid, $3, $4, $5) where value is not null order by observed_at desc limit 1`,
    [kind, entity, counter, frame.from, frame.to],
  )
  const value = rows[0]?.value ?? 0
  if (value < 1) return undefined
  const power = 10 ** Math.floor(Math.log10(value))
  return [5, 2, 1].map((times) => times * power).find((one) => one <= value)
}
