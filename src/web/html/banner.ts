import { html, raw } from 'hono/html'
import type { Markup } from '../../drawing/html-table.ts'

/** A banner: the colour of its cloth, and what lies on it from the cloth up. */
interface Banner {
  readonly base: string
  readonly layers: readonly { readonly colour: string | null; readonly pattern: string | null }[]
}

/** The dyes of the game. */
const dyes: Readonly<Record<string, string>> = {
  WHITE: '#f9fffe',
  ORANGE: '#f9801d',
  MAGENTA: '#c74ebd',
  LIGHT_BLUE: '#3ab3da',
  YELLOW: '#fed83d',
  LIME: '#80c71f',
  PINK: '#f38baa',
  GRAY: '#474f52',
  SILVER: '#9d9d97',
  LIGHT_GRAY: '#9d9d97',
  CYAN: '#169c9c',
  PURPLE: '#8932b8',
  BLUE: '#3c44aa',
  BROWN: '#835432',
  GREEN: '#5e7c16',
  RED: '#b02e26',
  BLACK: '#1d1d21',
}

const box = (x: number, y: number, width: number, height: number) => `M${x} ${y}h${width}v${height}h-${width}z`
const border = 'M0 0h20v40h-20zM2 2v36h16v-36z'

/** Patterns on a cloth of 20 to 40, as paths. */
const patterns: Readonly<Record<string, string>> = {
  STRIPE_TOP: box(0, 0, 20, 13),
  STRIPE_BOTTOM: box(0, 27, 20, 13),
  STRIPE_LEFT: box(0, 0, 7, 40),
  STRIPE_RIGHT: box(13, 0, 7, 40),
  STRIPE_CENTER: box(7, 0, 6, 40),
  STRIPE_MIDDLE: box(0, 16, 20, 8),
  STRAIGHT_CROSS: box(8, 0, 4, 40) + box(0, 18, 20, 4),
  STRIPE_DOWNRIGHT: 'M0 0h4L20 36v4h-4L0 4z',
  STRIPE_DOWNLEFT: 'M20 0h-4L0 36v4h4L20 4z',
  CROSS: 'M0 0h4L20 36v4h-4L0 4zM20 0h-4L0 36v4h4L20 4z',
  STRIPE_SMALL: [1, 6, 11, 16].map((x) => box(x, 0, 3, 40)).join(''),
  SMALL_STRIPES: [1, 6, 11, 16].map((x) => box(x, 0, 3, 40)).join(''),
  HALF_HORIZONTAL: box(0, 0, 20, 20),
  HALF_HORIZONTAL_MIRROR: box(0, 20, 20, 20),
  HALF_HORIZONTAL_BOTTOM: box(0, 20, 20, 20),
  HALF_VERTICAL: box(0, 0, 10, 40),
  HALF_VERTICAL_MIRROR: box(10, 0, 10, 40),
  HALF_VERTICAL_RIGHT: box(10, 0, 10, 40),
  DIAGONAL_LEFT: 'M0 0h20L0 40z',
  DIAGONAL_RIGHT: 'M20 0v40h-20z',
  DIAGONAL_LEFT_MIRROR: 'M0 0v40h20z',
  DIAGONAL_RIGHT_MIRROR: 'M0 0h20v40z',
  DIAGONAL_UP_LEFT: 'M0 0v40h20z',
  DIAGONAL_UP_RIGHT: 'M20 0v40h-20z',
  TRIANGLE_TOP: 'M0 0h20L10 20z',
  TRIANGLE_BOTTOM: 'M0 40h20L10 20z',
  RHOMBUS: 'M10 8l8 12-8 12-8-12z',
  RHOMBUS_MIDDLE: 'M10 8l8 12-8 12-8-12z',
  TRIANGLES_TOP: 'M0 0h20l-3 5-4-5-3 5-3-5-4 5z',
  TRIANGLES_BOTTOM: 'M0 40h20l-3-5-4 5-3-5-3 5-4-5z',
  CIRCLE: 'M10 13a7 7 0 1 0 .1 0z',
  CIRCLE_MIDDLE: 'M10 13a7 7 0 1 0 .1 0z',
  BORDER: border,
  CURLY_BORDER: border,
  SQUARE_TOP_LEFT: box(0, 0, 10, 13),
  SQUARE_TOP_RIGHT: box(10, 0, 10, 13),
  SQUARE_BOTTOM_LEFT: box(0, 27, 10, 13),
  SQUARE_BOTTOM_RIGHT: box(10, 27, 10, 13),
  GRADIENT: box(0, 0, 20, 16),
  GRADIENT_UP: box(0, 24, 20, 16),
  BRICKS: [0, 8, 16, 24, 32].map((y) => box(y % 16 ? 1 : 6, y + 1, 12, 6)).join(''),
}

/** What a picture of something else is shown as: a sign on the cloth. */
const sign = 'M10 12l8 8-8 8-8-8z'

export function bannerMarkup({ base, layers }: Banner, name: string): Markup {
  const colourOf = (colour: string | null) => dyes[colour ?? ''] ?? 'var(--unknown)'
  const shapes = layers.map(({ colour, pattern }) => {
    const isFaded = pattern?.startsWith('GRADIENT') ? ' fill-opacity=".6"' : ''
    return `<path d="${patterns[pattern ?? ''] ?? sign}" fill="${colourOf(colour)}" fill-rule="evenodd"${isFaded}/>`
  })
  return html`<svg class="guild-banner" viewBox="0 0 20 40" role="img" aria-label="Banner of ${name}">${raw(`<path d="${box(0, 0, 20, 40)}" fill="${colourOf(base)}"/>${shapes.join('')}`)}</svg>`
}
