import { plainWords, shortened } from './words.ts'

/** Words beside what differs that are shown, so that a reader sees what it is about. */
const context = 3

/** Two values of a field as text: of long texts the words that differ, with a few around them. HTML is left out. */
export function differenceOf(before: unknown, after: unknown): [before: string, after: string] {
  const old = wordsOf(before)
  const young = wordsOf(after)
  const least = Math.min(old.length, young.length)
  let start = 0
  while (start < least && old[start] === young[start]) start++
  let end = 0
  while (end < least - start && old.at(-1 - end) === young.at(-1 - end)) end++
  const from = Math.max(0, start - context)
  const cut = (words: readonly string[]) => {
    const to = Math.min(words.length, words.length - end + context)
    return shortened(`${from > 0 ? '… ' : ''}${words.slice(from, to).join(' ')}${to < words.length ? ' …' : ''}`, 120)
  }
  return [cut(old), cut(young)]
}

function wordsOf(value: unknown): string[] {
  if (value === null || value === undefined) return ['–']
  const lines = Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join(' ') : value
  const text = typeof lines === 'string' ? plainWords(lines) : JSON.stringify(lines)
  return text.split(/\s+/).filter((word) => word !== '')
}

/** By how much a number rose or fell, with its sign; empty where it was or is none. */
export function numberDifference(before: unknown, after: unknown): string {
  if (typeof before !== 'number' || typeof after !== 'number') return ''
  const by = after - before
  return `${by > 0 ? '+' : ''}${Number(by.toFixed(3))}`
}
