import { visibleLine } from '../../base/terminal-text.ts'
import { shortened } from '../words.ts'
import type { Place } from './map-history.ts'

/** Size of the labels on the map, in pixels. */
export const labelSize = 8

/** Width of the map on wide screens, in pixels. */
export const mapWidth = 620

const widest = /[mwMW@%]/
const padding = 2

/** What stands on a territory for the guild that holds it. */
export function labelOf(prefix: string): string {
  return shortened(visibleLine(prefix), 5)
}

/** How wide a label may become in any usual font, in pixels. */
export function labelWidth(label: string): number {
  const ems = [...label].map((letter) => {
    if (letter > '~') return 1.2
    return widest.test(letter) ? 1 : /[A-Z]/.test(letter) ? 0.8 : 0.65
  })
  return Math.ceil(ems.reduce((sum, one) => sum + one, padding / labelSize) * labelSize)
}

/** Width that a label may have inside each place, in pixels; 0 where the place is too low for one. */
export function labelRooms(places: readonly Place[], [west, east]: readonly [number, number]): number[] {
  const scale = mapWidth / (east - west + 1)
  return places.map(({ minX, maxX, minZ, maxZ }) =>
    (maxZ - minZ) * scale > labelSize + padding ? Math.floor((maxX - minX) * scale) : 0,
  )
}
