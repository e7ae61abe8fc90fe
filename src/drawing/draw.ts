import * as Plot from '@observablehq/plot'
import { html, raw } from 'hono/html'
import { parseHTML } from 'linkedom'

/** What a picture is drawn on. Lengths are in CSS pixels. */
export interface Sheet {
  readonly width: number
  /** True on the sheet for phones, where little text fits. */
  readonly isNarrow: boolean
}

/** A picture as markup: drawn once for wide and once for narrow screens; the style sheet shows one of them. */
export type Picture = ReturnType<typeof raw>

const sheets: readonly Sheet[] = [
  { width: 960, isNarrow: false },
  { width: 336, isNarrow: true },
]

/** Plot needs a document only to create elements in. */
const { document } = parseHTML('<html><body></body></html>')

/**
 * Draws a picture as SVG.
 * @param label what it shows, for those who cannot see it
 * @param options what is drawn on a sheet; several are set below each other
 */
export function draw(
  label: string,
  options: (sheet: Sheet) => Plot.PlotOptions | readonly Plot.PlotOptions[],
): Picture {
  const drawn = sheets.map((sheet) => {
    const parts = [options(sheet)].flat() as Plot.PlotOptions[]
    const svgs = parts.map((part, index) => svgOf(part, sheet, index === 0 ? label : ''))
    return `<div class="${sheet.isNarrow ? 'narrow' : 'wide'}">${svgs.join('')}</div>`
  })
  return raw(drawn.join(''))
}

/** Draws a picture as SVG that is scaled to any screen: for one without text that must stay legible. */
export function drawScaled(label: string, options: Plot.PlotOptions & { readonly width: number }): Picture {
  return raw(`<div class="scaled">${svgOf(options, { width: options.width, isNarrow: false }, label)}</div>`)
}

function svgOf(options: Plot.PlotOptions, { width, isNarrow }: Sheet, label: string): string {
  cellTexts.length = 0
  const svg = Plot.plot({ width, className: 'plot', ...options, document: document as never }) as unknown as SvgElement
  // The page has one style sheet of its own and allows no other.
  for (const style of svg.getElementsByTagName('style')) style.remove()
  for (const name of ['width', 'height', 'font-family', 'font-size']) svg.removeAttribute(name)
  // A group without a role may have no label.
  for (const mark of svg.getElementsByTagName('g')) {
    const name = mark.getAttribute('aria-label')
    if (name === null) continue
    mark.setAttribute('data-mark', name)
    mark.removeAttribute('aria-label')
  }
  // What is in an image cannot be followed.
  const links = [...svg.getElementsByTagName('a')]
  // Hundreds of stops would keep a keyboard from what follows; a list has the same.
  for (const link of links) {
    link.setAttribute('tabindex', '-1')
    // As it is without it.
    link.removeAttribute('fill')
  }
  svg.setAttribute('role', label === '' ? 'presentation' : links.length > 0 ? 'group' : 'img')
  if (label !== '') svg.setAttribute('aria-label', label)
  const text = rounded(svg.outerHTML).replace(
    /<g data-cells="(\d+)" \/>/g,
    (_, nth: string) => cellTexts[Number(nth)] ?? '',
  )
  // No pointer rests on a phone, and titles of hundreds of cells are most of a picture; those of links are their names.
  return isNarrow && links.length === 0 ? text.replace(/<title>[^<]*<\/title>/g, '') : text
}

/** A rectangle of a grid: a span of x in a row of y. */
interface GridCell {
  readonly x1: Date
  readonly x2: Date
  readonly y: string
  /** 0 to 1. */
  readonly opacity: number
  readonly title?: string
}

/** The cells of the picture that is being drawn. */
const cellTexts: string[] = []

/** A mark of thousands of cells. They are drawn as text: an element for each would take ten times as long. */
export function gridCells(cells: readonly GridCell[], fill: string): Plot.RenderFunction {
  return (_index, { x, y, scales }, _values, _dimensions, { document: own }) => {
    const height = hundredths(Math.max(0, (scales.y?.bandwidth ?? 1) - 0.5))
    const across = placesOn<Date>(x, (at) => at.getTime())
    const down = placesOn<string>(y, (row) => row)
    const texts = cells.map(({ x1, x2, y: row, opacity, title }) => {
      const left = across(x1)
      const width = hundredths(Math.max(0, across(x2) - left - 0.5))
      const size = `width="${width}" height="${height}" fill-opacity="${hundredths(opacity)}"`
      const inside = title === undefined ? '/>' : `><title>${html`${title}`}</title></rect>`
      return `<rect x="${left}" y="${hundredths(down(row) + 0.5)}" ${size}${inside}`
    })
    const group = own.createElementNS('http://www.w3.org/2000/svg', 'g')
    group.setAttribute('data-cells', String(cellTexts.push(`<g fill="${fill}">${texts.join('')}</g>`) - 1))
    return group as never
  }
}

/** Where values lie on a scale, each computed once: the cells of a row have the same ones as those of the next. */
function placesOn<T>(scale: ((value: unknown) => unknown) | undefined, keyOf: (value: T) => string | number) {
  const known = new Map<string | number, number>()
  return (value: T): number => {
    const key = keyOf(value)
    const place = known.get(key) ?? hundredths(Number(scale?.(value)))
    known.set(key, place)
    return place
  }
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100
}

/** A hundredth of a pixel is more than one can see. No text has a tag: in it, `<` is escaped. */
function rounded(svg: string): string {
  return svg.replace(/<(?:path|rect|text|line|g) [^>]+/g, (tag) =>
    tag.replace(/ (?:d|x|y|width|height|transform|fill-opacity|x1|x2|y1|y2)="[^"]+/g, (attribute) =>
      attribute.replace(/(\.\d\d)\d+/g, '$1'),
    ),
  )
}

/** What is used of an element; the compiler knows no browser here. */
interface SvgElement {
  readonly outerHTML: string
  getElementsByTagName(name: string): Iterable<SvgElement & { remove(): void }>
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
}
