/** Hours of the day in which nothing is sent; `from` after `to` lasts over midnight. */
interface QuietHours {
  /** Minutes since midnight. */
  readonly from: number
  readonly to: number
  readonly timeZone: string
}

const form = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)(?: ([A-Za-z][\w+/-]*))?$/

/** `22:00-07:00 Europe/Berlin`; UTC without a time zone. Null when it is something else. */
export function parseQuietHours(text: string): QuietHours | null {
  const [, fromHour, fromMinute, toHour, toMinute, timeZone = 'UTC'] = form.exec(text) ?? []
  if (fromHour === undefined) return null
  try {
    new Intl.DateTimeFormat('en', { timeZone })
  } catch {
    return null
  }
  return {
    from: Number(fromHour) * 60 + Number(fromMinute),
    to: Number(toHour) * 60 + Number(toMinute),
    timeZone,
  }
}

/** @param now ms since the epoch */
export function isQuiet({ from, to, timeZone }: QuietHours, now: number): boolean {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  const [hour = 0, minute = 0] = clock.format(now).split(':').map(Number)
  const at = hour * 60 + minute
  return from <= to ? from <= at && at < to : from <= at || at < to
}
