import { raw } from 'hono/html'
import { fills } from './roster.ts'

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

/** Patterns that pictures are filled with: a second and third round of the colours, and what is not known. */
export const patterns = raw(
  `<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>${[
    pattern('unknown', '<path d="M-1 1L1 -1M0 6L6 0M5 7L7 5" stroke="var(--unknown)" stroke-width="1"/>'),
    ...[1, 4, 5].map((place) => pattern(`g${place}-lines`, stripes(place))),
    ...Array.from({ length: fills - colours.length }, (_, index) => {
      const place = index % colours.length
      return pattern(`g${index + colours.length}`, index < colours.length ? stripes(place) : dots(place))
    }),
  ].join('')}</defs></svg>`,
)
