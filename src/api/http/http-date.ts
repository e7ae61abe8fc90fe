const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * An RFC 1123 date as ms since the epoch, or null for anything else.
 * The form is checked first because Date.parse makes years out of plain numbers: `Expires: 0` would be the year 2000.
 */
export function readHttpDate(value: string | undefined): number | null {
  if (value === undefined || !httpDate.test(value)) return null
  const instant = Date.parse(value)
  return Number.isNaN(instant) ? null : instant
}
