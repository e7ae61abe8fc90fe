import type { Table } from './dictionary.ts'

const LETTER = 7
const LINE = 16
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
export function diagramOf(tables: readonly Table[]): string {
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
  let [x, y] = [left, top]
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
  const width = Math.max(...texts.map(({ length }) => length)) * LETTER + 2 * GAP
  return { table, x, y, width, height: texts.length * LINE + GAP }
}

function keysOf({ columns }: Table): string[] {
  return columns.filter(({ isKey }) => isKey).map(({ name }) => name)
}

function bottomOf(boxes: readonly Box[]): number {
  return Math.max(0, ...boxes.map(({ y, height }) => y + height))
}

/** From the right edge of the root to the upper left of the part, where its name stands. */
function lineBetween(root: Box, part: Box): string {
  const [x, y] = [root.x + root.width, root.y + LINE]
  const middle = x + 2.5 * GAP
  return `<path d="M${x} ${y}H${middle}V${part.y - GAP / 2}H${part.x + GAP}V${part.y}"/>`
}

function drawn({ table, x, y, width, height }: Box): string {
  const keys = keysOf(table).map((key, index) => `<text x="${x + GAP}" y="${y + (index + 2) * LINE}">${key}</text>`)
  return `<a href="#${table.name}"><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4"/><text class="name" x="${x + GAP}" y="${y + LINE}">${table.name}</text>${keys.join('')}</a>`
}
