import { html } from 'hono/html'
import { visibleLine } from '../../base/terminal-text.ts'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Cell, Table } from '../../drawing/html-table.ts'
import { count, length, moment, number, shortened } from '../../drawing/words.ts'
import { resources } from '../../resources/index.ts'
import { namesInResponses } from '../../sync/outbox/outbox.ts'
import { type LedgerRun, readRuns, readTraces, runsCalled } from '../../sync/overview/ledger-runs.ts'
import { link } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { pageOf, sortLink } from '../html/sorted-table.ts'
import { Problem } from '../http/problems.ts'

const RUNS_OF_PAGE = 100
/** Of a reason in a list. */
const REASON_CHARACTERS = 160
/** Of each kind. */
const COUNTED_TRACES = 10_000

/** Whether a run of it may be about a player by name, who may hide at any time. */
function isAboutPlayers(resource: string): boolean {
  const declared = resources.find(({ name }) => name === resource)
  return !declared || namesInResponses(declared) === 'key is a player'
}

/** Why a run did not load everything, in a line; of runs about players without what could name one. */
export function reasonText({
  resource,
  reason,
}: {
  readonly resource: string
  readonly reason: string | null
}): string {
  if (!reason) return 'no reason is recorded'
  if (isAboutPlayers(resource)) return 'the ledger has the reason: wynnsync runs show'
  return shortened(visibleLine(reason.split('\n')[0] ?? ''), REASON_CHARACTERS)
}

/** What the list can be sorted by, and whether the highest come first. */
const headings = [
  ['startedAt', 'Began (UTC)', true],
  ['resource', 'Resource', false],
  ['status', 'Outcome', false],
  ['took', 'Took', true],
  ['records', 'Records', true],
  ['inserted', 'New', true],
  ['changed', 'Changed', true],
  ['closed', 'Gone', true],
] as const

/** `/runs?resource=&failed=&sort=&page=`: the ledger, the newest first, of a period, a resource, or only what failed. */
export async function runsPage(visit: Visit): Promise<Page> {
  const { sql, query } = visit
  const resource = query.get('resource') ?? ''
  const failed = query.has('failed')
  const { frame, control } = await shownPeriod(visit, { path: '/runs' })
  const sort = query.get('sort') ?? 'startedAt'
  const isOther = sort.startsWith('-')
  const [by, , isUsual] = headings.find(([key]) => key === sort.replace(/^-/, '')) ?? headings[0]
  const isFalling = isUsual !== isOther
  const { size, offset, past, links } = pageOf('/runs', query, RUNS_OF_PAGE)
  const wanted = { resources: resource === '' ? [] : [resource], failed, since: frame.from, until: frame.to }
  const found = await readRuns(sql, { ...wanted, limit: size + 1, offset, order: { by, isFalling } })
  const runs = found.slice(0, size)
  const of = `${resource === '' ? '' : ` of ${resource}`}${failed ? ' that failed' : ''}`
  const end = past(runs.length)
  const isFirst = offset === 0 && by === 'startedAt' && isFalling
  const amount =
    end ??
    (offset === 0 && found.length <= size
      ? `${found.length === 0 ? 'No run' : count(found.length, 'run')}${of}`
      : isFirst
        ? `The latest ${size} runs${of}`
        : `Runs ${number(offset + 1)} to ${number(offset + runs.length)}${of}`)
  const columns = [
    ...headings.map(([key, heading]) =>
      sortLink({ key, heading }, { by, isOther, isFalling }, { path: '/runs', query, anchor: 'runs' }),
    ),
    'Why',
  ]
  return {
    path: '/runs',
    title: `${amount}, ${moment(frame.from, frame.writtenAt)} to ${moment(frame.to, frame.writtenAt)}`,
    lead: 'The ledger: what was run when, and what came of it.',
    control: html`${control}${filterForm(visit)}`,
    links: links(end ? 0 : offset + found.length),
    chapters: [chapterOf('ledger', 'Runs', end ? { id: 'runs', title: end } : runsFigure(runs, columns))],
  }
}

function filterForm({ query }: Visit) {
  const kept = ['from', 'to', 'sort'].flatMap((name) =>
    query.has(name) ? [[name, query.get(name) ?? ''] as const] : [],
  )
  const chosen = query.get('resource')
  return html`<form action="/runs">${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label>Resource <select name="resource"><option value="">all</option>${resources.map(
    ({ name }) => html`<option${name === chosen ? html` selected` : ''}>${name}</option>`,
  )}</select></label><label><input type="checkbox" name="failed" value="yes"${query.has('failed') ? html` checked` : ''}> failed or rejected</label><button>Show</button></form>`
}

function runsFigure(runs: readonly LedgerRun[], columns: Table['columns']): Figure {
  if (runs.length === 0) return missing('runs', 'No run began in this period', 'wynnsync sync')
  return listFigure('runs', count(runs.length, 'run'), {
    columns,
    rows: runs.map((run): Cell[] => [
      run.startedAt,
      link('runs', run.runId.slice(0, 13), run.resource),
      run.status,
      { value: run.finishedAt.getTime() - run.startedAt.getTime(), shown: tookText(run) },
      run.records,
      run.inserted,
      run.changed,
      run.closed,
      run.error || run.reason ? reasonText({ resource: run.resource, reason: run.error ?? run.reason }) : '',
    ]),
  })
}

function tookText({ startedAt, finishedAt }: LedgerRun): string {
  const ms = finishedAt.getTime() - startedAt.getTime()
  return ms < 1000 ? `${ms} ms` : length(ms / 1000)
}

/** `/runs/ID`: one run by its id or the beginning of it, with everything that it left but names. */
export async function runPage({ sql, name, now }: Visit): Promise<Page> {
  const [run, other] = /^[0-9a-f-]{4,36}$/i.test(name) ? await runsCalled(sql, name) : []
  if (!run || other)
    throw new Problem('not-found', { detail: `${other ? 'several runs begin with' : 'run not found:'} ${name}` })
  const { requests, responses, guards, quarantine, drift } = await readTraces(sql, run, COUNTED_TRACES)
  return {
    path: `/runs/${run.runId}`,
    title: `${run.resource}: ${run.status} on ${moment(run.startedAt, now)}`,
    lead: `Run ${run.runId}, by version ${run.program}.`,
    control: html`<p class="at">${link('runs', run.resource, `Runs of ${run.resource}`, '?resource=')}</p>`,
    chapters: [
      chapterOf('run', 'What came of it', factsFigure(run)),
      chapterOf(
        'traces',
        'What it left',
        ...[
          tally('requests', 'request', requests, ({ httpStatus }) => [`HTTP ${httpStatus ?? '?'}`]),
          tally('responses', 'response', responses, ({ status }) => [status]),
          tally('guards', 'guard action', guards, ({ guard, action }) => [guard, action ?? '']),
          tally('quarantine', 'quarantined record', quarantine, ({ path }) => [path]),
          tally('drift', 'drift', drift, ({ kind, path }) => [kind, path]),
        ].flatMap((figure) => figure ?? []),
      ),
    ].filter(({ figures }) => figures.length > 0),
  }
}

function factsFigure(run: LedgerRun): Figure {
  const facts: (readonly [string, Cell | undefined])[] = [
    [
      'Reason',
      run.error || run.reason ? reasonText({ resource: run.resource, reason: run.error ?? run.reason }) : undefined,
    ],
    ['Began (UTC)', run.startedAt],
    ['Took', tookText(run)],
    ['Observed at (UTC)', run.observedAt ?? undefined],
    ['Complete', run.complete ?? undefined],
    ['Requests', run.requests],
    ['Pages', run.pages],
    ['Records', run.records],
    ['Quarantined', run.quarantined],
    ['New', run.inserted],
    ['Changed', run.changed],
    ['Gone', run.closed],
    ['Unchanged', run.unchanged],
    ['Events', run.events],
  ]
  return listFigure('facts', `${count(run.records, 'record')}, ${count(run.inserted + run.changed, 'new version')}`, {
    columns: ['What', 'Value'],
    rows: facts.flatMap(([what, value]) => (value === undefined ? [] : [[what, value]])),
  })
}

/** How often each of some kinds occurs: keys, requests and examples may name players. */
function tally<T>(
  id: string,
  one: string,
  rows: readonly T[],
  kindOf: (row: T) => readonly string[],
): Figure | undefined {
  if (rows.length === 0) return undefined
  const counts = new Map<string, number>()
  for (const row of rows) {
    const kind = kindOf(row).map(visibleLine).join(', ')
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const kinds = [...counts].sort(([, some], [, others]) => others - some)
  return listFigure(id, `${rows.length < COUNTED_TRACES ? '' : 'at least '}${count(rows.length, one)}`, {
    columns: ['What', 'How often'],
    rows: kinds.slice(0, RUNS_OF_PAGE),
  })
}
