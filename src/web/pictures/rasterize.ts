import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { initWasm, Resvg } from '@resvg/resvg-wasm'

const { resolve } = createRequire(import.meta.url)
const faces = ['latin-400', 'latin-700', 'latin-ext-400', 'latin-ext-700']

/** The family of the text. */
export const family = 'Atkinson Hyperlegible'

// Once in a process: it throws when it is called again.
const ready = initWasm(readFileSync(resolve('@resvg/resvg-wasm/index_bg.wasm')))
const fontBuffers = faces.map((face) =>
  readFileSync(resolve(`@fontsource/atkinson-hyperlegible/files/atkinson-hyperlegible-${face}-normal.woff2`)),
)

/** Draws an SVG document as PNG. @throws when it is none */
export async function rasterize(svg: string): Promise<Uint8Array<ArrayBuffer>> {
  await ready
  const drawing = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: family, sansSerifFamily: family } })
  try {
    const image = drawing.render()
    // A copy: what it gives lies in its own memory.
    const png = new Uint8Array(image.asPng())
    image.free()
    return png
  } finally {
    drawing.free()
  }
}
