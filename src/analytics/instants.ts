const HOUR = 3_600_000
const units: Readonly<Record<string, number>> = { m: HOUR / 60, h: HOUR, d: 24 * HOUR, w: 7 * 24 * HOUR }

/**
 * An instant as Postgres reads it, from what people write: `now`, `today`, `yesterday` (their beginning, UTC), `-90m`,
 * `-12h`, `-7d`, `-2w` (so long before now). Everything else comes back as it is: ISO 8601, or what Postgres refuses.
 * @param now milliseconds since the epoch
 */
export function instantText(text: string, now: number): string {
  const word = text.trim().toLowerCase()
  const [, count, unit = ''] = /^-(\d{1,6})([mhdw])$/.exec(word) ?? []
  if (count !== undefined) return isoOf(now - Number(count) * (units[unit] ?? 0))
  if (word === 'now') return isoOf(now)
  const midnight = Math.floor(now / (24 * HOUR)) * 24 * HOUR
  if (word === 'today') return isoOf(midnight)
  return word === 'yesterday' ? isoOf(midnight - 24 * HOUR) : text
}

function isoOf(at: number): string {
  const iso = new Date(at).toISOString()
  // Long before the year 1, as ISO 8601 writes it: Postgres reads no such year.
  return iso.startsWith('-') ? '-infinity' : iso
}
