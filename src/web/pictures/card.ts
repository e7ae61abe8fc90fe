import { html, raw } from 'hono/html'
import { patterns } from '../../drawing/colours.ts'
import type { Figure } from '../../drawing/figure.ts'
import { type Markup, tableMarkup } from '../../drawing/html-table.ts'
import { style } from '../../drawing/style.ts'
import type { Page } from '../html/page.ts'

/** Of a card, in pixels: what sites that show links ask for. */
const cardSize = { width: 1200, height: 630 }

const margin = 56
const inner = cardSize.width - 2 * margin

/** The colours of the style sheet in the light. */
const colours = new Map(
  [...style.slice(0, style.indexOf('@media')).matchAll(/--([\w-]+): ([^;}]+)/g)].map(([, name = '', value = '']) => [
    name,
    value.trim(),
  ]),
)
const coloured = (svg: string) => svg.replace(/var\(--([\w-]+)\)/g, (_, name: string) => colours.get(name) ?? '#808080')
const fills = raw(coloured(/<defs>.*<\/defs>/s.exec(String(patterns))?.[0] ?? ''))

/** A link to a page as a picture: its finding, what it is about, and its first chart, or the first lines of its list. As SVG, in which names are text. */
export async function cardText({ title, lead, chapters }: Page): Promise<string> {
  const figures = chapters.flatMap((chapter) => chapter.figures)
  const chart = await firstChart(figures.map(({ picture }) => picture))
  // A wide chart stands below the text, a high one beside it.
  const isBeside = chart !== undefined && chart.width < 1.6 * chart.height
  const lines = textOf({ title, lead }, isBeside ? 0.45 * inner : inner, isBeside ? 7 : 3)
  const top = isBeside ? margin : lines.bottom + 24
  const left = isBeside ? margin + 0.5 * inner : margin
  const box = { x: left, y: top, width: cardSize.width - margin - left, height: cardSize.height - margin - 30 - top }
  const svg = await html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${cardSize.width} ${cardSize.height}"
width="${cardSize.width}" height="${cardSize.height}" font-family="sans-serif">${fills}
<rect width="100%" height="100%" fill="${colours.get('paper')}"/>${lines.markup}
${chart ? raw(placed(chart.svg, box)) : listed(await firstRows(figures), box)}
<text x="${margin}" y="${cardSize.height - 30}" font-size="24" font-weight="700" fill="${colours.get('link')}">wynnsync</text></svg>`
  // Not even escaped has XML room for these.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return String(svg).replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
}

interface Chart {
  readonly svg: string
  readonly width: number
  readonly height: number
}

async function firstChart(pictures: readonly unknown[]): Promise<Chart | undefined> {
  for (const picture of pictures) {
    const [, svg] =
      /(?:<div class="(?:wide|scaled)">|(?=<svg id="[\w-]+" class="places"))(<svg.*?<\/svg>)/s.exec(
        String((await picture) ?? ''),
      ) ?? []
    const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg ?? '') ?? []
    if (svg !== undefined) return { svg, width: Number(width), height: Number(height) }
  }
  return undefined
}

/** Lines of a list fit on a card. */
const CARD_LINES = 8

/** The lines of the first figure that has any, in columns, without what is drawn. */
async function firstRows(figures: readonly Figure[]): Promise<string[][]> {
  for (const { picture, table } of figures) {
    const list = table && table.rows.length > 0 ? tableMarkup({ ...table, rows: table.rows.slice(0, CARD_LINES) }) : ''
    const text = `${(await picture) ?? ''}${await list}`.replace(/<thead.*?<\/thead>|<(title|select)\b.*?<\/\1>/gs, '')
    const lines = text.split(/<(?:tr|dt|li)\b/).slice(1)
    const rows = lines
      .slice(0, CARD_LINES)
      .map((line) => `<p${line}`.split(/<(?:td|th|dd|span)\b/).map((cell) => plainText(`<p${cell}`)))
    if (rows.length > 0) return rows.map((row) => row.filter((cell) => cell !== '').slice(0, 4))
  }
  return []
}

function plainText(markup: string): string {
  const signs: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return markup
    .replace(/<[^>]*>?/g, ' ')
    .replace(/&(#?\w+);/g, (all, sign: string) => signs[sign] ?? all)
    .replace(/\s+/g, ' ')
    .trim()
}

function listed(rows: readonly (readonly string[])[], { x, y, width, height }: Box): Markup {
  const most = Math.max(1, ...rows.map((row) => row.length))
  // The first column has the names.
  const across = (place: number) => x + (place === 0 ? 0 : (width * (place + 0.6)) / (most + 0.6))
  const room = (place: number) => (across(place + 1) - across(place)) / 14
  const cell = (text: string, place: number, row: number) =>
    html`<text x="${Math.round(across(place))}" y="${Math.round(y + 40 * row + 30)}" font-size="25" fill="${colours.get(place === 0 ? 'ink' : 'soft')}">${wrapped(text, room(place), 1)[0]}</text>`
  return html`${rows.slice(0, Math.floor(height / 40)).map((row, nth) => row.map((text, place) => cell(text, place, nth)))}`
}

type Box = Readonly<Record<'x' | 'y' | 'width' | 'height', number>>

/** The chart inside a box. Labels are for those who cannot see it, and in HTML they may have what XML refuses. */
function placed(svg: string, box: Box): string {
  const place = Object.entries(box).map(([name, value]) => `${name}="${Math.round(value)}"`)
  return (
    coloured(svg)
      .replace(/ aria-label="[^"]*"/g, '')
      // The font has no arrow.
      .replaceAll('→', 'to')
      .replace(
        '<svg',
        `<svg ${place.join(' ')} preserveAspectRatio="xMinYMin" font-size="11" color="${colours.get('soft')}"`,
      )
  )
}

function textOf({ title, lead }: Pick<Page, 'title' | 'lead'>, width: number, most: number) {
  const large = { size: 52, lines: wrapped(title, width / 28, most) }
  const small = { size: 26, lines: wrapped(lead, width / 13, 3) }
  let y = margin - 20
  const markup = [
    { ...large, weight: 700, fill: colours.get('ink') },
    { ...small, weight: 400, fill: colours.get('soft') },
  ].map(({ size, lines, weight, fill }) =>
    lines.map((line, index) => {
      y += (index === 0 ? 1.4 : 1.15) * size
      return html`<text x="${margin}" y="${Math.round(y)}" font-size="${size}" font-weight="${weight}" fill="${fill}">${line}</text>`
    }),
  )
  return { markup, bottom: y }
}

/** Text in lines of so many characters; what has no room is left out. What turns the direction of text is, too. */
function wrapped(text: string, room: number, most: number): string[] {
  const width = Math.floor(room)
  const words = text
    .replace(/\p{C}+/gu, ' ')
    .split(/\s+/)
    .flatMap((word) =>
      [...word].reduce<string[]>((pieces, letter, at) => {
        if (at % width === 0) pieces.push('')
        pieces[pieces.length - 1] += letter
        return pieces
      }, []),
    )
  const lines = ['']
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`.trim()
    if ([...longer].length <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), `${[...(lines[most - 1] ?? '')].slice(0, width - 1).join('')}…`]
}
