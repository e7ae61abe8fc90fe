import { html } from 'hono/html'
import { type Chapter, type Figure, listFigure } from '../../drawing/figure.ts'
import { tableMarkup } from '../../drawing/html-table.ts'
import { count } from '../../drawing/words.ts'
import { filterHelp } from '../../questions/asking/filters.ts'
import { byTopic, isAsked, recorded } from '../../questions/catalogue.ts'
import { type ExampleValues, exampleValues, valuesOf } from '../../questions/examples.ts'
import { type Parameter, type Question, readQuestions } from '../../questions/questions.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { problems } from '../http/problems.ts'
import { isAboutPlayers } from '../people.ts'
import { limits } from './arguments.ts'
import { feedList, filtersOf, isRequired, meaningOf } from './openapi.ts'

/** Path of the question with an answer to look at; undefined when it needs a value that is not there. */
function examplePath({ name, kind, parameters }: Question, values: ExampleValues): string | undefined {
  const known = valuesOf({ name }, values)
  const query = new URLSearchParams()
  if (kind === 'view') query.set('limit', '10')
  for (const one of parameters) {
    if (one.optional || /^(from|to)_time$/.test(one.name)) continue
    const value = known[one.name]
    if (value === null || value === undefined) return undefined
    query.set(one.name, value)
  }
  return `/api/v1/${name}${query.size > 0 ? `?${query}` : ''}`
}

/** `/api`: the read API for people. */
export async function apiPage({ sql, people }: Visit): Promise<Page> {
  const all = await readQuestions(sql)
  const questions = all.filter((one) => isAsked(one) && (people || !isAboutPlayers(one)))
  const values = await exampleValues(sql)
  return {
    path: '/api',
    title: `${count(questions.length, 'question')} about the history, answered as JSON, CSV or NDJSON`,
    lead: 'The read API: every question has a path, takes its arguments by name, and needs no key.',
    control: html`<p><a href="/openapi.json">openapi.json</a> describes the same for programs. <a href="#requests">Requests</a>,
<a href="#feeds">feeds</a>, <a href="#problems">problems</a>.</p>
<details><summary>Questions by topic</summary><ul>${byTopic(questions).map(
      ({ title, members }) =>
        html`<li>${title} ${members.map(({ name }) => html`<a href="#${name}">${name}</a> `)}</li>\n`,
    )}</ul></details>`,
    chapters: [requests(), ...topicChapters(questions, values), feeds(), problemChapter()],
  }
}

function topicChapters(questions: readonly Question[], values: ExampleValues): Chapter[] {
  return byTopic(questions).map(({ number, title, members }) => ({
    id: `topic-${number}`,
    heading: title,
    figures: number === recorded.number ? [rowsFigure(members)] : members.map((one) => questionFigure(one, values)),
  }))
}

/** Views of rows as they are recorded: with all of their columns they would be most of the page. */
function rowsFigure(views: readonly Question[]): Figure {
  const rows = views.map(({ name, comment }) => [
    html`<a id="${name}" href="/api/v1/${name}?limit=10">${name}</a>`,
    comment ?? '',
  ])
  return {
    id: 'rows',
    title: 'Rows of each table',
    lead: 'Current rows and those with their past, as they are recorded. Each column is a filter; openapi.json has the columns.',
    picture: tableMarkup({ columns: ['View', 'Meaning'], rows }),
  }
}

function questionFigure(question: Question, values: ExampleValues): Figure {
  const { name, comment, parameters, columns } = question
  const path = examplePath(question, values)
  const example = path === undefined ? '' : html`<p class="note">Example: <a href="${path}">${path}</a></p>`
  const filters = html`<p class="note">Each column is a filter, such as <code>?${filtersOf(question)[0]?.name ?? ''}=</code>; see <a href="#requests">requests</a>.</p>`
  const meanings = columns.map((one) => [html`<code>${one.name}</code>`, one.type, one.comment ?? ''])
  return {
    id: name,
    title: name,
    lead: comment ?? '',
    picture: html`${parameters.length > 0 ? tableMarkup({ columns: ['Argument', 'Type', 'Default', 'Meaning'], rows: parameters.map(argumentRow) }) : ''}
${filters}
${example}<details><summary>Columns of the answer (${columns.length})</summary>${tableMarkup({ columns: ['Column', 'Type', 'Meaning'], rows: meanings })}</details>`,
  }
}

function argumentRow(parameter: Parameter) {
  const { name, type } = parameter
  const usual = isRequired(parameter) ? 'needed' : (defaults[name] ?? '')
  const meaning = meaningOf(name, type)
  return [html`<code>${name}</code>`, type, usual, meaning === type ? '' : meaning]
}

const defaults: Readonly<Record<string, string>> = {
  at: 'now',
  from_time: 'seven days ago',
  to_time: 'now',
}

function requests(): Chapter {
  const rows = [
    ['limit', `Rows of a page, 1 to ${limits.most.toLocaleString('en-US')}; ${limits.usual} without it.`],
    ['cursor', 'The next page, from next of the page before or its header Link; the other parameters stay the same.'],
    [
      'column=',
      `Each column of an answer is a filter: ${filterHelp}. Several of one column are all fulfilled; null fulfils none but is.null. eq. begins a value that looks like an operator. An argument goes before a column of its name.`,
    ],
    [
      'order',
      'Columns such as level.desc.nullslast,internal_name; asc or desc alone: all columns, from the first. Views have asc without it.',
    ],
    ['select', 'Only these columns, such as internal_name,level.'],
    ['format', 'json, csv or ndjson. Cells of CSV are run by no spreadsheet; the next page is in the header Link.'],
    ['Accept', 'The same without format: application/json (without it), text/csv or application/x-ndjson.'],
    ['If-None-Match', '304 when the client has the answer already; now is the last full minute.'],
    [
      'RateLimit-*',
      'In each response: requests a minute and address or key, what is left, seconds until the minute ends.',
    ],
    [
      'Authorization: Bearer',
      'A key, for a limit of its own; wynnsync web-key add NAME makes one. X-API-Key takes it too.',
    ],
  ]
  const names = 'Guilds and players are named by uuid or name, former names included.'
  const times = 'Instants are ISO 8601 (UTC), now, today, yesterday, -12h, -7d.'
  return chapterOf('requests', 'Requests', {
    id: 'parameters',
    title: 'What every question takes, and what responses say',
    lead: `${names} ${times} null is unknown, never zero.`,
    table: {
      columns: ['Parameter or header', 'Meaning'],
      rows: rows.map(([name, text]) => [html`<code>${name}</code>`, text ?? '']),
    },
    isTableShown: true,
  })
}

function feeds(): Chapter {
  return chapterOf(
    'feeds',
    'Feeds and change files',
    listFigure('paths', 'What happened, as Atom, numbered files and a stream', {
      columns: ['Path', 'Content'],
      rows: feedList.map(({ path, summary }) => [html`<code>${path}</code>`, summary]),
    }),
  )
}

/** The `type` of a problem document leads to its row. */
function problemChapter(): Chapter {
  return chapterOf('problems', 'Problems', {
    id: 'problem-types',
    title: 'Errors are problem details (RFC 9457)',
    lead: 'type, title, status, mostly detail; argument names the argument that is wrong.',
    table: {
      columns: ['Type', 'Status', 'Meaning'],
      rows: Object.entries(problems).map(([name, { status, title }]) => [
        html`<code id="${name}">/api#${name}</code>`,
        html`${status}`,
        title,
      ]),
    },
    isTableShown: true,
  })
}
