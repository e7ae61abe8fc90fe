import { html, raw } from 'hono/html'
import { documentText, policyOf } from './document.ts'
import { type Chapter, chapterMarkup } from './drawing/figure.ts'
import type { Frame } from './drawing/frame.ts'
import type { Markup } from './drawing/html-table.ts'
import { instant, moment } from './words.ts'

const policy = [...policyOf(), `form-action 'none'`].join('; ')

/** The whole page, of one file that needs no other. */
export async function pageOf(
  chapters: readonly Chapter[],
  { from, to, writtenAt }: Frame,
  { version, tables }: { readonly version: string; readonly tables: boolean },
): Promise<string> {
  const period = `${moment(from)} to ${moment(to)}`
  return await documentText({
    title: `wynnsync: ${period}`,
    version,
    head: html`<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">`,
    body: html`<header><h1>What happened, ${period}</h1>
<p class="soft">Written ${instant(writtenAt)}. All times are UTC. Hatched (on paper, dashed) is unknown, not zero.</p>
<nav aria-label="Findings"><dl>${chapters.map(contents)}</dl></nav></header>
<main class="${tables ? '' : 'brief'}">${chapters.map(chapterMarkup)}</main>
<footer>wynnsync ${version}, from the schema <code>analytics</code>; <code>wynnsync query --list</code> shows what else can be
asked. Not affiliated with the makers of the game or of its API.</footer>`,
  })
}

function contents({ id, heading, figures }: Chapter): Markup {
  const findings = figures.map((one) => html`<a href="#${one.id}">${one.title}</a>`)
  return html`<div><dt><a href="#${id}">${heading}</a></dt><dd>${findings}</dd></div>`
}
