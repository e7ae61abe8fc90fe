import { diagramOf } from './dictionary-diagram.ts'
import type { Block } from './dictionary-page.ts'

const STYLE = `
:root { color-scheme: light dark; --line: #8886; --box: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; }
td, th { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); }
code, h4, svg text { font-family: ui-monospace, monospace; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: currentColor; } svg .name { font-weight: bold; }
svg rect { fill: var(--box); stroke: currentColor; } svg path { fill: none; stroke: currentColor; }
`

/** The dictionary as one page that needs nothing else: no script, no picture or font from anywhere. */
export function htmlOf(page: readonly Block[]): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>wynnsync: data dictionary</title><style>${STYLE}</style>
${page.map(html).join('\n')}
</html>
`
}

function html(block: Block): string {
  if (block.kind === 'heading') {
    const { level, text, isCode } = block
    const words = isCode ? `<code>${escaped(text)}</code>` : escaped(text)
    return `<h${level} id="${escaped(anchorOf(text))}">${words}</h${level}>`
  }
  if (block.kind === 'text') return `<p>${inline(block.text)}</p>`
  if (block.kind === 'diagram') return diagramOf(block.tables)
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join('')}</tr>`
  return `<table>${row(block.columns, 'th')}${block.rows.map((cells) => row(cells, 'td')).join('\n')}</table>`
}

/** What a link in a diagram is called: the table without its schema. */
function anchorOf(heading: string): string {
  return heading.replace(/^(game|sync)\./, '').replace(/\(.*/, '')
}

function inline(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
