import CliTable from 'cli-table3'
import stringWidth from 'string-width'
import { visibleText } from '../../base/terminal-text.ts'
import { type Cells, cellOf, plainText } from '../../questions/asking/rows-text.ts'
import { bold, type Style } from './output.ts'
import { numberText, shortened } from './units.ts'

const edges = ['top', 'bottom', 'left', 'right', 'mid']
const joints = ['top', 'bottom'].flatMap((side) => ['mid', 'left', 'right'].map((end) => `${side}-${end}`))
const borderless = Object.fromEntries(
  [...edges, ...joints, 'left-mid', 'mid-mid', 'right-mid'].map((name) => [name, '']),
)

interface TableOptions {
  /** Of the terminal, in characters; undefined shows everything. */
  readonly width?: number | undefined
  /** Whether long texts go on in the next line instead of being cut. */
  readonly wraps?: boolean
  /** Whether numbers are shown as people read them: `5.66 bn`. */
  readonly readable?: boolean
  /** The flags that show the columns for which there is no room. */
  readonly shownBy?: string
}

/** Rows as aligned columns under their names; numbers to the right. */
export function formatTable(columns: readonly string[], rows: readonly Cells[], options: TableOptions = {}): string {
  if (rows.length === 0) return '(no rows)\n'
  const { width, wraps = false, readable = false, shownBy = '--wide or --json' } = options
  const lines = rows.map((row) => columns.map((column) => cellText(cellOf(row, column), readable)))
  const natural = naturalWidths(columns, lines)
  const all = columns.map((name, index) => columnOf(name, columns, rows, natural[index] ?? 0))
  const shown = width === undefined ? all : fitColumns(all, width)
  const indices = shown.map(({ name }) => columns.indexOf(name))
  const left = columns.filter((_, index) => !indices.includes(index))
  // A pipe gets thousands of rows, whole: nothing of them is cut or wrapped.
  if (width === undefined && !wraps) return `${padded(all, lines).join('\n')}\n`
  const text: string[] = []
  for (let from = 0; from < lines.length; from += together) {
    const table = new CliTable({
      ...(from === 0 ? { head: shown.map(({ name }) => name) } : {}),
      chars: { ...borderless, middle: ' '.repeat(gap) },
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
      colAligns: shown.map(({ isNumeric }) => (isNumeric ? 'right' : 'left')),
      wordWrap: wraps,
      colWidths: shown.map((column) => column.width),
    })
    for (const line of lines.slice(from, from + together)) table.push(indices.map((index) => line[index] ?? ''))
    for (const line of table.toString().split('\n')) text.push(line.trimEnd())
  }
  return `${text.join('\n')}\n${leftOut(left, shownBy, width)}`
}

/** Rows under the names of their columns, each cell as wide as the widest of its column. */
function padded(columns: readonly TableColumn[], lines: readonly (readonly string[])[]): string[] {
  return [columns.map(({ name }) => name), ...lines].map((line) => {
    const cells = columns.map(({ width, isNumeric }, index) => {
      const text = line[index] ?? ''
      const blanks = ' '.repeat(width - widthOf(text))
      return isNumeric ? blanks + text : text + blanks
    })
    return cells.join(' '.repeat(gap)).trimEnd()
  })
}

/** How many places a text takes. Most have letters of ASCII alone, each of which takes one. */
const widthOf = (text: string): number => (/^[ -~]*$/.test(text) ? text.length : stringWidth(text))

/** The names of the columns of a table that the text begins with. */
export const boldFirstLine: Style = (text) => text.replace(/^.+/, bold)

/** The width of each column that shows everything: a call with a row per argument overflows the stack. */
function naturalWidths(columns: readonly string[], lines: readonly (readonly string[])[]): number[] {
  return columns.map((name, index) =>
    lines.reduce((most, line) => Math.max(most, widthOf(line[index] ?? '')), widthOf(name)),
  )
}

function leftOut(columns: readonly string[], shownBy: string, width = 0): string {
  if (columns.length === 0) return ''
  const count = columns.length === 1 ? '1 column is' : `${columns.length} columns are`
  return `${shortened(`(${count} not shown; see ${shownBy}: ${columns.join(', ')}`, width - 1)})\n`
}

/** A line feed or tab would rearrange the table and is shown as a space; other control characters are shown escaped. */
function cellText(value: unknown, readable: boolean): string {
  if (value === null || value === undefined) return ''
  if (readable && typeof value === 'number') return numberText(value)
  return visibleText(plainText(value).replace(/[\t\r\n]/g, ' '))
}

const gap = 2
/** Rows that are laid out at a time: the time for one table grows with the square of its rows. */
const together = 20
/** Texts are not cut below this; then columns are left out. */
const narrowest = 10

interface TableColumn {
  readonly name: string
  readonly width: number
  readonly isNumeric: boolean
  /** Whether it may be cut: half a number or uuid is another one. */
  readonly isCuttable: boolean
  /** How much a reader misses it, as a rank: what has the highest is left out first. */
  readonly rank: number
}

/** The ranks of columns. What is named is left out wherever there is a width, and what is essential only after all others. */
const ranks = { essential: 0, when: 1, usual: 2, minor: 3, named: 4 } as const

/** Names, and the old and new value of a change. */
const essential = /(^|[_ ])(name|username|territory|world|resource|reward|title|value|attacker|defender)$/

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function columnOf(name: string, columns: readonly string[], rows: readonly Cells[], width: number): TableColumn {
  const values = rows.map((row) => cellOf(row, name)).filter((value) => value !== null && value !== undefined)
  const isNumeric = values.every((value) => typeof value === 'number' || typeof value === 'bigint')
  const isInstant = values.some((value) => value instanceof Date)
  const isUuid = values.length > 0 && values.every((value) => typeof value === 'string' && uuid.test(value))
  const rank = () => {
    if (isUuid) return hasName(name, columns, rows) ? ranks.named : ranks.minor
    if (name === 'observed_at' || values.every((value) => typeof value === 'boolean')) return ranks.minor
    if (isNumeric || essential.test(name)) return ranks.essential
    const isFirst = isInstant && columns.find((one) => rows.some((row) => cellOf(row, one) instanceof Date)) === name
    return isFirst ? ranks.when : ranks.usual
  }
  return { name, width, isNumeric, isCuttable: !isNumeric && !isInstant && !isUuid, rank: rank() }
}

/** Whether each uuid of a column has its name beside it, as `guild_uuid` has it in `guild_name` and `player_uuid` in `username`. */
function hasName(column: string, columns: readonly string[], rows: readonly Cells[]): boolean {
  const stem = column.replace(/_?uuid$/, '')
  const own = /^(player|guild|entity|)$/.test(stem) ? ['username', 'name'] : []
  const name = [`${stem}_name`, `${stem}_username`, stem, ...own].find((one) => one !== column && columns.includes(one))
  const isMissing = (row: Cells, one: string) => (cellOf(row, one) ?? null) === null
  return name !== undefined && rows.every((row) => isMissing(row, column) || !isMissing(row, name))
}

/**
 * The columns that fit a terminal. What is named by the column beside it is left out; where the others do not fit with their texts
 * cut, those that are missed least, of these the widest and the last. One always stays, and at the end the widest texts are cut.
 */
function fitColumns(columns: readonly TableColumn[], width: number): readonly TableColumn[] {
  const cutTo = (most: number, list: readonly TableColumn[]) =>
    list.map((one) => (one.isCuttable ? { ...one, width: Math.min(one.width, most) } : one))
  const total = (list: readonly TableColumn[]) => list.reduce((sum, one) => sum + one.width + gap, -gap)
  let shown = columns.filter(({ rank }) => rank !== ranks.named)
  while (shown.length > 1 && total(cutTo(narrowest, shown)) > width) {
    const worst = leastMissed(cutTo(narrowest, shown))
    shown = shown.filter(({ name }) => name !== worst.name)
  }
  let most = width
  while (most > narrowest && total(cutTo(most, shown)) > width) most--
  return cutTo(most, shown)
}

/** The column to leave out next. The first stays, unless it is a uuid or flag and another column has names. */
function leastMissed([first, ...others]: readonly TableColumn[]): TableColumn {
  const hasNames = others.some(({ rank, isNumeric }) => rank === ranks.essential && !isNumeric)
  const candidates = first && first.rank === ranks.minor && hasNames ? [first, ...others] : others
  return candidates.reduce((worst, one) => {
    if (one.rank !== worst.rank) return one.rank > worst.rank ? one : worst
    return one.rank === ranks.essential || one.width >= worst.width ? one : worst
  })
}
