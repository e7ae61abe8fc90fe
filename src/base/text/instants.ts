/*
 * How people write instants and lengths of time, on command lines, in requests and in pages: read here alone.
 */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const units: Readonly<Record<string, number>> = { s: 1000, m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY }

/** What must be given for an instant, for messages. */
export const INSTANT = 'an instant such as 2026-05-01T20:00Z, now or -7d'

/** What must be given for a length of time, for messages. */
export const DURATION = 'a length of time such as 15m, 24h, 7d or 1 hour'

/**
 * An instant as Postgres reads it, from what people write: `now`, `today`, `yesterday` (their beginning, UTC), `-90m`,
 * `-12h`, `-7d`, `-2w` (so long before now). Everything else comes back as it is: ISO 8601, or what Postgres refuses.
 * @param now milliseconds since the epoch
 */
export function instantText(text: string, now: number): string {
  const word = text.trim().toLowerCase()
  const ago = word.startsWith('-') ? durationOf(word.slice(1)) : undefined
  if (ago !== undefined) return isoOf(now - ago)
  if (word === 'now') return isoOf(now)
  const midnight = Math.floor(now / DAY) * DAY
  if (word === 'today') return isoOf(midnight)
  return word === 'yesterday' ? isoOf(midnight - DAY) : text
}

function isoOf(at: number): string {
  const iso = new Date(at).toISOString()
  // Long before the year 1, as ISO 8601 writes it: Postgres reads no such year.
  return iso.startsWith('-') ? '-infinity' : iso
}

const iso = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:[0-5]\d(?:\.\d+)?)?)?(?: ?(Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?))?$/i

/** The instant that ISO 8601 or a word names, UTC where it does not say; undefined for anything else, such as the 31st of June. */
export function instantOf(text: string, now: number): Date | undefined {
  const [, day, time = '00:00', seconds = ':00', offset = 'Z'] = iso.exec(instantText(text, now).trim()) ?? []
  if (day === undefined) return undefined
  const written = new Date(`${day}T${time}Z`)
  if (Number.isNaN(written.getTime()) || !written.toISOString().startsWith(day)) return undefined
  const [, hours = '', minutes = '00'] = /^([+-]\d\d):?(\d\d)?$/.exec(offset) ?? []
  const at = new Date(`${day}T${time}${seconds.slice(0, 7)}${hours === '' ? 'Z' : `${hours}:${minutes}`}`)
  // Postgres and people read years of four digits.
  return /^[1-9]\d{3}-/.test(at.toISOString()) ? at : undefined
}

/** Milliseconds of a length of time: `90s`, `15m`, `24h`, `7d`, `2w`, `1 hour`; undefined for anything else. */
export function durationOf(text: string): number | undefined {
  const [, count, ...named] =
    /^(\d{1,6})(?:([smhdw])| ?(s)ec(?:ond)?s?| ?(m)in(?:ute)?s?| ?(h)ours?| ?(d)ays?| ?(w)eeks?)$/.exec(
      text.trim().toLowerCase(),
    ) ?? []
  return count === undefined ? undefined : Number(count) * (units[named.find((one) => one !== undefined) ?? ''] ?? 0)
}
