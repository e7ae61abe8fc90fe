import { UsageError } from './errors.ts'

/** @throws UsageError when the text of a flag is no whole number from 0 to `max` */
export function wholeNumber(flag: string, text: string, max = 999_999_999): number {
  const value = Number(text)
  if (!/^\d{1,15}$/.test(text) || value > max)
    throw new UsageError(`${flag} must be a whole number up to ${max}, got ${text}`)
  return value
}
