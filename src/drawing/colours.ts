import { crc32 } from 'node:zlib'
import { raw } from 'hono/html'

/** Colours of Okabe and Ito, which people who see few colours can tell apart; black is left to text. Guilds have their own. */
const colours = ['#e69f00', '#56b4e9', '#009e73', '#f0e442', '#0072b2', '#d55e00', '#cc79a7']

/** The colours as properties of the style sheet. */
export const colourProperties = colours.map((colour, index) => `--g${index}: ${colour};`).join(' ')

const stripes = (place: number) =>
  `<rect width="6" height="6" fill="var(--g${place})"/><path d="M-1 1L1 -1M0 6L6 0M5 7L7 5" stroke="var(--pattern)" stroke-width="1.6"/>`
const pattern = (id: string, content: string) =>
  `<pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse">${content}</pattern>`

/** The colours that have stripes, too. */
const striped = [1, 4, 5]

/**
 * What stands for the patterns on paper: paler fills with an outline, and a dashed outline for what is not known. Browsers
 * print each patterned shape as an image, which makes hundreds of megabytes of a page.
 */
export const printedFills = [
  '[fill="url(#unknown)"] { fill: none; stroke: var(--unknown); stroke-dasharray: 2 2 }',
  ...striped.map(
    (place) => `[fill="url(#g${place}-lines)"] { fill: var(--g${place}); fill-opacity: 0.5; stroke: var(--g${place}) }`,
  ),
].join('\n  ')

/** Patterns that pictures are filled with: stripes of some colours, and what is not known. */
export const patterns = raw(
  `<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>${[
    pattern('unknown', '<path d="M-1 1L1 -1M0 6L6 0M5 7L7 5" stroke="var(--unknown)" stroke-width="1"/>'),
    ...striped.map((place) => pattern(`g${place}-lines`, stripes(place))),
  ].join('')}</defs></svg>`,
)

/** Between these luminances a colour stands out from light and dark paper, and black text can be read on it. */
const DARKEST_LUMINANCE = 0.18
const LIGHTEST_LUMINANCE = 0.46

const known = new Map<string, string>()

/**
 * The colour of a guild: the one that the maps of players give its name, which is the last three bytes of the name's CRC-32, made lighter or
 * darker where it could not be seen. The same name has the same colour everywhere and always.
 */
export function guildColour(name: string): string {
  const kept = known.get(name)
  if (kept !== undefined) return kept
  // Names are those of guilds that were seen; a list of all of them is small.
  if (known.size > 20_000) known.clear()
  const hash = crc32(name)
  const colour = `#${readable([16, 8, 0].map((shift) => (hash >>> shift) & 0xff))
    .map((value) => value.toString(16).padStart(2, '0'))
    .join('')}`
  known.set(name, colour)
  return colour
}

/** Weights of red, green and blue in the luminance of a colour (WCAG 2). */
const weights = [0.2126, 0.7152, 0.0722] as const

/** The nearest colour of the same hue whose luminance is in bounds. */
function readable(bytes: readonly number[]): number[] {
  const light = bytes.map((byte) => {
    const share = byte / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  const luminance = light.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), 0)
  if (luminance >= DARKEST_LUMINANCE && luminance <= LIGHTEST_LUMINANCE) return [...bytes]
  const white = luminance < DARKEST_LUMINANCE ? (DARKEST_LUMINANCE - luminance) / (1 - luminance) : 0
  const share = luminance > LIGHTEST_LUMINANCE ? LIGHTEST_LUMINANCE / luminance : 1
  return light.map((value) => {
    const mixed = (value + white * (1 - value)) * share
    return Math.round(255 * (mixed <= 0.0031308 ? mixed * 12.92 : 1.055 * mixed ** (1 / 2.4) - 0.055))
  })
}
