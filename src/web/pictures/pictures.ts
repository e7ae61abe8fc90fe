import { createRequire } from 'node:module'
import { codeOf } from '../../base/errors.ts'
import type { Page } from '../html/page.ts'
import { cardText } from './card.ts'

/** What draws, and the font: a server does without. */
const needed = ['@resvg/resvg-wasm', '@fontsource/atkinson-hyperlegible/LICENSE']

/** A picture of a page. */
export interface Card {
  /** Changes with what it shows. */
  readonly text: string
  /** Draws the PNG. */
  png(): Promise<Uint8Array<ArrayBuffer>>
}

/** Draws pages as pictures; undefined where the packages for it are not installed. */
export type Pictures = (page: Page) => Promise<Card>

/** Finds out whether pages can be drawn. What draws them is loaded with the first picture. */
export function openPictures(): Pictures | undefined {
  try {
    for (const name of needed) createRequire(import.meta.url).resolve(name)
  } catch (error) {
    if (/MODULE_NOT_FOUND$/.test(String(codeOf(error)))) return undefined
    throw error
  }
  const draw = async (text: string) => (await import('./rasterize.ts')).rasterize(text)
  return async (page) => {
    const text = await cardText(page)
    // A chart that cannot be read costs the chart.
    return { text, png: () => draw(text).catch(async () => draw(await cardText({ ...page, chapters: [] }))) }
  }
}

export function picturePath(path: string): string {
  const [place = '', search] = path.split('?')
  return `/og${place === '/' ? '/home' : place}.png${search === undefined ? '' : `?${search}`}`
}
