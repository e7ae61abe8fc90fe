import { raw } from 'hono/html'
import { fills } from '../guild/roster.ts'

/** Colours of Okabe and Ito, which people who see few colours can tell apart; black is left to text. */
const colours = ['#e69f00', '#56b4e9', '#009e73', '#f0e442', '#0072b2', '#d55e00', '#cc79a7']

/** The colours as properties of the style sheet. */
export const colourProperties = colours.map((colour, index) => `--g${index}: ${colour};`).join(' ')

const stripes = (place: number) =>
  `<rect width="6" height="6" fill="var(--g${place})"/><path d="M-1 1L1 -1M0 6L6 0M5 7L7 5" stroke="var(--pattern)" stroke-width="1.6"/>`
const dots = (place: number) =>
  `<rect width="6" height="6" fill="var(--g${place})"/><circle cx="3" cy="3" r="1.5" fill="var(--pattern)"/>`

const pattern = (id: string, content: string) =>
  `<pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse">${content}</pattern>`

/** The place in `colours` of every pattern, and which round of the colours it belongs to. */
const patterned = [
  ...[1, 4, 5].map((place) => ({ id: `g${place}-lines`, place, round: 1 })),
  ...Array.from({ length: fills - colours.length }, (_, index) => ({
    id: `g${index + colours.length}`,
    place: index % colours.length,
    round: index < colours.length ? 1 : 2,
  })),
]

/**
 * What stands for the patterns on paper: paler fills with an outline, and a dashed outline for what is not known. Browsers
 * print each patterned shape as an image, which makes hundreds of megabytes of a page.
 */
export const printedFills = [
  '[fill="url(#unknown)"] { fill: none; stroke: var(--unknown); stroke-dasharray: 2 2 }',
  ...patterned.map(
    ({ id, place, round }) =>
      `[fill="url(#${id})"] { fill: var(--g${place}); fill-opacity: ${round === 1 ? 0.5 : 0.2}; stroke: var(--g${place}) }`,
  ),
].join('\n  ')

/** Patterns that pictures are filled with: a second and third round of the colours, and what is not known. */
export const patterns = raw(
  `<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>${[
    pattern('unknown', '<path d="M-1 1L1 -1M0 6L6 0M5 7L7 5" stroke="var(--unknown)" stroke-width="1"/>'),
    ...patterned.map(({ id, place, round }) => pattern(id, round === 1 ? stripes(place) : dots(place))),
  ].join('')}</defs></svg>`,
)
