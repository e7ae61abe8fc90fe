import type { Random } from '../../app/clock.ts'
import { chance, pick } from './draw.ts'
import { codas, onsets, sentences, vowels } from './words.ts'

/** Rich text as the API sends it: nested spans with inline styles and fonts, glyphs in private-use code points. */

const grey = "<span class='font-ascii' style='color:#AAAAAA'>"

/** One or two sentences of lore; `glyphs` adds a passage in an old script. */
export function lore(random: Random, glyphs: boolean): string {
  const first = pick(random, sentences)
  const text = chance(random, 0.3) ? `${first}\n${pick(random, sentences)}` : first
  return glyphs ? `${grey}${text}\n${oldScript(random)}</span>` : `${grey}${text}</span>`
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
  const coloured = attributes.map((name) => `<span class='font-ascii' style='color:#bc8f62'>${name}</span>`)
  const uses = crafts.map(
    (craft, index) =>
      "<span class='font-ascii' style='color:#FFFFFF'>" +
      `<span class='font-profession'>${glyph(0xe000 + index)}</span> ${craft}</span>`,
  )
  return `${grey}Feed to your animal to raise its ${coloured.join(' and ')}\n\nCan be used to craft ${uses.join(', ')}</span>`
}

/** What a major id does. */
export function majorIdText(random: Random, label: string): string {
  const share = 5 + Math.floor(random() * 16) * 5
  return (
    `${grey}<span class='font-ascii' style='color:#55FFFF'>+${label}: </span>` +
    `Your next spell gains ${share}% <span class='font-common'>${glyph(0xe001)}</span> damage when it follows a dash.</span>`
  )
}

function glyph(code: number): string {
  return String.fromCodePoint(code)
}
