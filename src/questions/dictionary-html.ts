import type { Block, Table } from './dictionary.ts'

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

const LETTER_WIDTH = 7
const LINE_HEIGHT = 16
const GAP = 14
const WIDTH = 1160

interface Box {
  readonly table: Table
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/**
 * The tables of a schema as one SVG: each root on the left of its parts, with a line to each; below them what stands
 * alone. Nothing in it is fetched from anywhere.
 */
function diagramOf(tables: readonly Table[]): string {
  const isRoot = ({ name }: Table) => tables.some(({ root }) => root?.name === name)
  const boxes: Box[] = []
  const lines: string[] = []
  let y = GAP
  for (const root of tables.filter(isRoot)) {
    const own = boxAt(root, GAP, y)
    const parts = flow(
      tables.filter((table) => table.root?.name === root.name),
      own.x + own.width + 5 * GAP,
      y,
    )
    for (const part of parts) lines.push(lineBetween(own, part))
    boxes.push(own, ...parts)
    y = bottomOf([own, ...parts]) + 2 * GAP
  }
  boxes.push(
    ...flow(
      tables.filter((table) => table.root === null && !isRoot(table)),
      GAP,
      y,
    ),
  )
  const height = bottomOf(boxes) + GAP
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" xmlns="http://www.w3.org/2000/svg">${lines.join('')}${boxes.map(drawn).join('')}</svg>`
}

/** Boxes side by side from `left` on, in as many rows as they need. */
function flow(tables: readonly Table[], left: number, top: number): Box[] {
  const boxes: Box[] = []
  let x = left
  let y = top
  for (const table of tables) {
    let box = boxAt(table, x, y)
    if (x > left && box.x + box.width > WIDTH - GAP) {
      y = bottomOf(boxes) + GAP
      box = boxAt(table, left, y)
    }
    boxes.push(box)
    x = box.x + box.width + GAP
  }
  return boxes
}

function boxAt(table: Table, x: number, y: number): Box {
  const texts = [table.name, ...keysOf(table)]
  const width = Math.max(...texts.map(({ length }) => length)) * LETTER_WIDTH + 2 * GAP
  return { table, x, y, width, height: texts.length * LINE_HEIGHT + GAP }
}

function keysOf({ columns }: Table): string[] {
  return columns.filter(({ isKey }) => isKey).map(({ name }) => name)
}

function bottomOf(boxes: readonly Box[]): number {
  return Math.max(0, ...boxes.map(({ y, height }) => y + height))
}

/** From the right edge of the root to the upper left of the part, where its name stands. */
function lineBetween(root: Box, part: Box): string {
  const x = root.x + root.width
  const y = root.y + LINE_HEIGHT
  const middle = x + 2.5 * GAP
  return `<path d="M${x} ${y}H${middle}V${part.y - GAP / 2}H${part.x + GAP}V${part.y}"/>`
}

function drawn({ table, x, y, width, height }: Box): string {
  const keys = keysOf(table).map(
    (key, index) => `<text x="${x + GAP}" y="${y + (index + 2) * LINE_HEIGHT}">${key}</text>`,
  )
  return `<a href="#${table.name}"><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4"/><text class="name" x="${x + GAP}" y="${y + LINE_HEIGHT}">${table.name}</text>${keys.join('')}</a>`
}
