import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import { visibleText } from '../base/terminal-text.ts'
import { patterns } from './colours.ts'
import type { Markup } from './html-table.ts'
import { mapScript } from './map/map-script.ts'
import { style } from './style.ts'

/** Folded tables are printed, too. */
export const printScript = `
addEventListener('beforeprint', () => { for (const one of document.querySelectorAll('details')) one.open = true })
`

const reportScript = `${printScript}${mapScript}`

interface DocumentParts {
  readonly title: string
  readonly version: string
  /** Comes first, so that a policy in it holds for the rest. */
  readonly head: Markup
  readonly body: Markup
  readonly css?: string
  /** What runs in the browser. */
  readonly script?: string
}

/** An HTML document that needs no other file, with the fills of all pictures and the script of the map by default. */
export async function documentText({
  title,
  version,
  head,
  body,
  css = style,
  script = reportScript,
}: DocumentParts): Promise<string> {
  const text = await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">${head}
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="generator" content="wynnsync ${version}">
<title>${title}</title><style>${raw(css)}</style></head><body>${patterns}
${body}
<script>${raw(script)}</script></body></html>
`
  // A name with an escape sequence or a bidirectional override would change how the text around it reads.
  return visibleText(String(text))
}

/** The sources that a content security policy allows: this script and this style sheet; whatever a name smuggles in does not run. */
export function policyOf(css = style, script = reportScript): readonly string[] {
  return [`default-src 'none'`, `script-src ${hashOf(script)}`, `style-src ${hashOf(css)}`, `base-uri 'none'`]
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
