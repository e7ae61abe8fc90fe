const durationUnits: readonly (readonly [seconds: number, unit: string, below: number])[] = [
  [1, 's', 60],
  [60, 'min', 7200],
  [3600, 'h', 172_800],
]

/** Seconds for a person: `40 s`, `12 min`, `2.5 h`, `3 days`. */
export function durationText(seconds: number): string {
  const [size, unit] = durationUnits.find(([, , below]) => seconds < below) ?? [86_400, 'days']
  return `${Number((seconds / size).toFixed(unit === 'h' && seconds < 36_000 ? 1 : 0))} ${unit}`
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB']

/** Bytes for a person, in powers of 1000: `1.2 GB`. */
export function bytesText(bytes: number): string {
  const step = Math.min(byteUnits.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1000 ** step
  return `${Number(value.toFixed(value >= 100 ? 0 : 1))} ${byteUnits[step]}`
}

/** An instant in a table, to the minute: `2026-05-01T08:16Z`. */
export function minuteText(instant: Date): string {
  return `${instant.toISOString().slice(0, 16)}Z`
}

/** The text, cut to a number of characters. */
export function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

const largeUnits: readonly (readonly [size: number, unit: string])[] = [
  [1e12, 'tn'],
  [1e9, 'bn'],
  [1e6, 'mn'],
]

/** A number for a person: from a million on three digits and a unit (`5.66 bn`), fractions with four digits. */
export function numberText(value: number): string {
  const absolute = Math.abs(value)
  if (absolute < 1e6)
    return String(Number.isInteger(value) ? value : Number(value.toPrecision(absolute < 1000 ? 4 : 6)))
  // What three digits round up to a thousand has the next unit.
  const [size, unit] = largeUnits.find(([least]) => absolute >= least * 0.9995) ?? [1, '']
  return `${(value / size).toPrecision(3)} ${unit}`
}
