import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { html, raw } from 'hono/html'
import { documentText, policyOf } from '../drawing/document.ts'
import { tableMarkup } from '../drawing/html-table.ts'
import { style } from '../drawing/style.ts'
import type { LakeFile, LakeIndex } from './index-file.ts'
import { type LakeStore, WRITING } from './lake-store.ts'
import { lakeQuestions } from './query.ts'
import type { LakeTable } from './tables.ts'

const PAGE = 'index.html'

/**
 * Writes a page beside a lake that says what is in it and how it is read: for somebody who opens the folder or bucket in a browser. It has
 * no script, and names no player. A reader of the lake needs the index, not this page.
 */
export async function writeContents(store: LakeStore, index: LakeIndex, tables: readonly LakeTable[]): Promise<void> {
  const draft = join(store.work, WRITING, PAGE)
  await writeFile(draft, await pageOf(index, tables), { flush: true })
  await store.put(draft, PAGE)
}

async function pageOf(index: LakeIndex, tables: readonly LakeTable[]): Promise<string> {
  const { at, program, people, isSandbox, files, coverage } = index
  const filled = tables.filter(({ name }) => files.some(({ table }) => table === name))
  const title = `${isSandbox ? 'History of a sandbox' : 'History of Wynncraft'}, as of ${minuteOf(at)} UTC`
  const questions = await lakeQuestions()
  const policy = policyOf(style, '').join('; ')
  const observed = coverage.map(({ resource, since, until, gaps }) => [
    resource,
    since === null ? null : minuteOf(since),
    until === null ? null : minuteOf(until),
    gaps.length,
  ])
  return await documentText({
    title,
    version: program,
    head: html`<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">`,
    script: '',
    body: html`<main><h1>${title}</h1>
<p>${filled.length} tables in ${files.length} Parquet files, ${sizeOf(files)}, ${people ? 'with' : 'without'} what names players. Written by wynnsync ${program}.</p>
<h2>Read it</h2>
<p>With DuckDB, as tables under their own names${questions.length > 0 ? html`, and as the questions ${questions.join(', ')}` : ''}:</p>
<pre>attach 'ducklake:history.ducklake' as history (read_only, data_path './', override_data_path true);
select * from history.${bareName(filled[0]?.name ?? 'game.item')} limit 10;</pre>
<p>With pandas, one file at a time, or all that <a href="index.json">index.json</a> lists of a table; it lists what belongs together:</p>
<pre>import json, pandas
files = [one["path"] for one in json.load(open("index.json"))["files"] if one["table"] == "${filled[0]?.name ?? 'game.item'}"]
rows = pandas.concat(map(pandas.read_parquet, files))</pre>
<h2>What was observed</h2>
${tableMarkup({ columns: ['resource', 'from (UTC)', 'until', 'gaps'], rows: observed })}
<h2>Tables</h2>
${filled.map((table) =>
  tableSection(
    table,
    files.filter((file) => file.table === table.name),
  ),
)}</main>`,
  })
}

function tableSection({ name, comment, types, comments }: LakeTable, files: readonly LakeFile[]) {
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const columns = Object.entries(types).map(([column, type]) => [column, type, comments[column] ?? ''])
  const links = files.map(({ path, month, rows, bytes, sha256 }) => [
    html`<a href="${path}">${month ?? 'all'}</a>`,
    rows,
    megabytes(bytes),
    sha256.slice(0, 12),
  ])
  return html`<details id="${name}"><summary>${name}: ${rows.toLocaleString('en-US')} rows, ${sizeOf(files)}</summary>
<p>${comment}</p>
${tableMarkup({ columns: ['column', 'type in Postgres', 'what it is'], rows: columns })}
${tableMarkup({ columns: ['month', 'rows', 'size', 'SHA-256'], rows: links })}</details>
`
}

const bareName = (name: string) => name.replace(/^.*\./, '')
const minuteOf = (at: string) => at.slice(0, 16).replace('T', ' ')
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`
const sizeOf = (files: readonly LakeFile[]) => megabytes(files.reduce((sum, { bytes }) => sum + bytes, 0))
