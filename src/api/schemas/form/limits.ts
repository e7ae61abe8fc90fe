/* What of JSON can be stored and read back. A record that goes beyond is put into quarantine. */

/** How deep a record may nest. Real ones nest five levels; functions that call themselves bear some thousands. */
export const deepestNesting = 200

/** In characters: an index entry of Postgres has room for that many, whatever the alphabet. */
export const longestKey = 500

/** False for what Postgres refuses in a text: U+0000, or half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** The text with a replacement character for whatever Postgres refuses. */
export function storable(text: string): string {
  return isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** A number, also where it comes as a text of digits; null for anything else. */
export function countOf(value: unknown): number | null {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value)
  return typeof value === 'number' ? value : null
}

const uuidForm = /^([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/i

/** Whether a text is a uuid, in capitals or not, with its dashes or without. */
export function isUuid(text: string): boolean {
  return uuidForm.test(text)
}

/** A uuid as Postgres prints it, with dashes and in small letters, whichever way it is spelled; any other text in small letters. */
export function uuidText(text: string): string {
  return text.toLowerCase().replace(uuidForm, '$1-$3-$4-$5-$6')
}

/**
 * A Date, or ISO 8601 as Postgres reads it, which is stricter than `Date.parse`: real days, offsets below 16 hours. An offset
 * moves the first and the last year of four digits to where no Date can be read back.
 */
export function isInstant(value: unknown): boolean {
  if (value instanceof Date) return !Number.isNaN(value.getTime())
  if (typeof value !== 'string') return false
  const match = instantForm.exec(value)
  if (!match) return false
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  if (year < 2 || year > 9998 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return false
  return hour < 24 && minute < 60 && second < 60
}

const instantForm = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,12})?)?(?:Z|[+-](?:0\d|1[0-5]):?[0-5]\d)?$/

/** Whether two texts are the same or name one instant, also where one of them has it cut to milliseconds or to seconds. */
export function isSameInstant(one: string, other: string): boolean {
  if (one === other) return true
  if (!isInstant(one) || !isInstant(other)) return false
  const [cut = 0, whole = 0] = [one, other].map(microsecondsOf).sort((a, b) => a - b)
  return [1, 1000, 1_000_000].some((unit) => cut === Math.floor(whole / unit) * unit)
}

function microsecondsOf(instant: string): number {
  const [, below = ''] = /\.\d{3}(\d{1,3})/.exec(instant) ?? []
  return Date.parse(instant) * 1000 + Number(below.padEnd(3, '0'))
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}
