import type { Random } from '../../base/clock.ts'
import { chance, pick } from './draw.ts'
import { codas, onsets, sentences, vowels } from './words.ts'

/** Rich text as the API sends it: nested spans with inline styles and fonts, glyphs in private-use code points. */

/** Text in a colour of six hex digits. */
export function coloured(colour: string, text: string): string {
  return `<span class='font-ascii' style='color:#${colour}'>${text}</span>`
}

/** One or two sentences of lore; `glyphs` adds a passage in an old script. */
export function lore(random: Random, glyphs: boolean): string {
  const first = pick(random, sentences)
  const text = chance(random, 0.3) ? `${first}\n${pick(random, sentences)}` : first
  return coloured('AAAAAA', glyphs ? `${text}\n${oldScript(random)}` : text)
}

function oldScript(random: Random): string {
  const words = Array.from({ length: 9 }, () => pick(random, onsets) + pick(random, vowels) + pick(random, codas))
  return (
    "<span class='font-old_script' style='font-weight:normal'>" +
    `${words.join(' ')} <span class='font-common'>${glyph(0xe010 + Math.floor(random() * 32))}</span>.</span>`
  )
}

/** What a material is good for, one glyph per profession. */
export function materialLore(attributes: readonly string[], crafts: readonly string[]): string {
  const raised = attributes.map((name) => coloured('bc8f62', name)).join(' and ')
  const uses = crafts.map((craft, index) =>
    coloured('FFFFFF', `<span class='font-profession'>${glyph(0xe000 + index)}</span> ${craft}`),
  )
  return coloured('AAAAAA', `Feed to your animal to raise its ${raised}\n\nCan be used to craft ${uses.join(', ')}`)
}

/** What a major id does. */
export function majorIdText(random: Random, label: string): string {
  const share = 5 + Math.floor(random() * 16) * 5
  const gain = `${share}% <span class='font-common'>${glyph(0xe001)}</span> damage`
  return coloured('AAAAAA', `${coloured('55FFFF', `+${label}: `)}Your next spell gains ${gain} when it follows a dash.`)
}

function glyph(code: number): string {
  return String.fromCodePoint(code)
}
