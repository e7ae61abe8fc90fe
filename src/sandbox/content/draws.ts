import type { Random } from '../../app/clock.ts'
import { hex } from '../generator/draw.ts'

/** Eight hex digits: how the API names aspects and world events inside (API reference 5.1). */
export function hexName(random: Random): string {
  return hex(random, 8)
}

/** Coloured text as the API sends it. */
export function coloured(colour: string, text: string): string {
  return `<span class='font-ascii' style='color:#${colour}'>${text}</span>`
}
