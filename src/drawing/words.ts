const DAY = 86_400_000

/** What was received longer ago is not called now, ms: some polls may fail. */
export const RECENT_MS = 3_600_000

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `2026-05-03 22:00`, UTC; NULL is a dash. */
export function instant(at: Date | null): string {
  return at === null ? '–' : at.toISOString().slice(0, 16).replace('T', ' ')
}

/** `3 May, 22:00`, UTC; for sentences. With its year where that is not the one of `now`; without `now` it stands in a period that says so. */
export function moment(at: Date, now = at): string {
  return `${dayOf(at, now)}, ${clockTime(at)}`
}

/** `3 May`, UTC. */
export function day(at: Date): string {
  return `${at.getUTCDate()} ${months[at.getUTCMonth()]}`
}

/** ` (some time after 3 May, 10:00)` where more than an hour lies between the responses around an event; else nothing. */
export function sometimeAfter(notBefore: Date | null, at: Date): string {
  if (notBefore === null || at.getTime() - notBefore.getTime() <= RECENT_MS) return ''
  return ` (some time after ${dayOf(notBefore, at)}, ${clockTime(notBefore)})`
}

/** ` (as seen 3 May, 10:00)` where what is said of an instant was last seen more than an hour before; else nothing. */
export function asSeen(seen: Date | null, at: Date): string {
  if (seen === null || at.getTime() - seen.getTime() <= RECENT_MS) return ''
  return ` (as seen ${dayOf(seen, at)}, ${clockTime(seen)})`
}

/** `3 May`, with its year where that is not the present one. */
export function dayOf(at: Date, now: Date): string {
  return at.getUTCFullYear() === now.getUTCFullYear() ? day(at) : `${day(at)} ${at.getUTCFullYear()}`
}

/** `22:00`, UTC. */
export function clockTime(at: Date): string {
  return at.toISOString().slice(11, 16)
}

/** A tick of a time axis: the day at midnight, the hour otherwise. */
export function tick(at: Date): string {
  return at.getTime() % DAY === 0 ? day(at) : clockTime(at)
}

/** By the most digits of a fraction. Kept: to make one takes a hundred times as long as to use it. */
const formats = [0, 1, 2].map((digits) => new Intl.NumberFormat('en-US', { maximumFractionDigits: digits }))

/** `1,234.5`; NULL is a question mark, because it is not known. */
export function number(value: number | null | undefined, digits: 0 | 1 | 2 = 0): string {
  if (value === null || value === undefined) return '?'
  return formats[digits]?.format(value) ?? String(value)
}

const units = [
  [1e15, 'Q'],
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
] as const

/** A number as people say it: `35.5 T`, `12 M`, `9,876`; NULL is a question mark. */
export function compact(value: number | null | undefined): string {
  const [size, unit] = units.find(([one]) => Math.abs(value ?? 0) >= one) ?? [1, '']
  return unit === '' ? number(value, 1) : `${number((value ?? 0) / size, 1)} ${unit}`
}

/** A name of the API in words: `globalData.guildRaids.total` as `guild raids, total`, `guildSeason28` as `guild season 28`; names of places stay as they are. */
export function apiWords(name: string): string {
  const parts = name.replace(/^globalData\.|\.list(?=\.)/g, '').split('.')
  return parts.map(wordsOfPart).join(', ')
}

function wordsOfPart(part: string): string {
  if (/^[A-Z]{3,}(_[A-Z]+)*$/.test(part)) return levelText(part)
  if (!/^[a-z\d][a-zA-Z\d]*$/.test(part)) return part.replaceAll('_', ' ')
  const words = part.replace('IDs', 'Ids').replace(/(?<=[a-z\d])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.replace(/(?<=[a-z])\d/, ' $&')
}

/** `93 %` of a share from 0 to 1; NULL is a question mark. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined) return '?'
  // What is nearly whole is not whole.
  const rounded = share < 1 ? Math.min(99, Math.round(share * 100)) : 100
  return `${rounded} %`
}

/** `1 capture`, `2 captures`. */
export function count(amount: number, one: string, many = `${one}s`): string {
  return `${number(amount)} ${amount === 1 ? one : many}`
}

/** A length of time in the largest fitting unit: `3 days`, `2 hours`, `40 seconds`. */
export function length(seconds: number): string {
  if (seconds >= 2 * 86_400) return count(Math.round(seconds / 86_400), 'day')
  if (seconds >= 3600) return count(Math.round(seconds / 3600), 'hour')
  if (seconds >= 120) return count(Math.round(seconds / 60), 'minute')
  return count(Math.round(seconds), 'second')
}

/** The same after `per`: `hour`, `3 hours`. */
export function every(seconds: number): string {
  return length(seconds).replace(/^1 /, '')
}

/** A text that fits beside a bar: at most `most` characters. */
export function shortened(text: string, most: number): string {
  const letters = [...text]
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`
}

/** Rich text of the API in plain words: without HTML, colour codes, and the signs of the game's font, for which browsers have no picture. */
export function plainWords(text: string): string {
  return text
    .replaceAll(/<[^>]*>|[§&][0-9a-fk-or](?!\w*;)|[\p{Co}\s]+/gu, ' ')
    .replaceAll(/ +(?=[,.;:!?)]|$)|^ +| +(?= )|(?<=\() +/g, '')
}

/** The label of an axis of counts: none between two of them. */
export function wholeTick(value: number): string {
  return Number.isInteger(value) ? number(value) : ''
}

/** `very low` of `VERY_LOW`; NULL is unknown. */
export function levelText(level: string | null): string {
  return level === null ? 'unknown' : level.toLowerCase().replaceAll('_', ' ')
}
