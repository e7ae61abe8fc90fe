import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import { patterns } from './drawing/colours.ts'
import { type Chapter, chapterMarkup } from './drawing/figure.ts'
import type { Frame } from './drawing/frame.ts'
import type { Markup } from './drawing/html-table.ts'
import { style } from './drawing/style.ts'
import { mapScript } from './map/map-script.ts'
import { instant, moment } from './words.ts'

/** Nothing may be loaded, and only this script and this style sheet count; whatever a name smuggles in does not run. */
const policy = [
  `default-src 'none'`,
  `script-src ${hashOf(mapScript)}`,
  `style-src ${hashOf(style)}`,
  `base-uri 'none'`,
  `form-action 'none'`,
].join('; ')

/** The whole page, of one file that needs no other. */
export async function pageOf(
  chapters: readonly Chapter[],
  { from, to, writtenAt }: Frame,
  version: string,
): Promise<string> {
  const period = `${moment(from)} to ${moment(to)}`
  const page = await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${raw(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="generator" content="wynnsync ${version}">
<title>wynnsync: ${period}</title><style>${raw(style)}</style></head><body>${patterns}
<header><h1>What happened, ${period}</h1>
<p class="soft">Written ${instant(writtenAt)}. All times are UTC. Hatched (on paper, dashed) is unknown, not zero.</p>
<nav aria-label="Findings"><dl>${chapters.map(contents)}</dl></nav></header>
<main>${chapters.map(chapterMarkup)}</main>
<footer>wynnsync ${version}, from the schema <code>analytics</code>; <code>wynnsync query --list</code> shows what else can be
asked. Not affiliated with the makers of the game or of its API.</footer>
<script>${raw(mapScript)}</script></body></html>
`
  return String(page)
}

function contents({ id, heading, figures }: Chapter): Markup {
  const findings = figures.map((one) => html`<a href="#${one.id}">${one.title}</a>`)
  return html`<div><dt><a href="#${id}">${heading}</a></dt><dd>${findings}</dd></div>`
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
