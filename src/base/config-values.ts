import * as z from 'zod'
import { UsageError } from './errors.ts'

export const share = z.coerce.number().min(0).max(1, { error: 'must lie between 0 and 1' })

/** `wynnsync,metrics.example`: host names. */
export function readHostNames(text: string, context: z.RefinementCtx) {
  const names = text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  if (names.every((name) => /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(name))) return names
  context.addIssue('must be host names without port, such as wynnsync,metrics.example')
  return z.NEVER
}

/** `106,80`: combat levels, each once. */
export function readLevels(text: string, context: z.RefinementCtx) {
  const parts = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
  const levels = [...new Set(parts.map(Number))]
  if (parts.every((part) => /^[1-9]\d{0,2}$/.test(part)) && levels.length <= 5) return levels
  context.addIssue('must be at most five combat levels, such as 106')
  return z.NEVER
}

/** `territories=7,guilds=forever`: days by resource. */
export function readRawDays(text: string, context: z.RefinementCtx) {
  const days: Record<string, number> = {}
  for (const part of text.split(/[,;]/).map((piece) => piece.trim())) {
    if (part === '') continue
    const [, resource, value] = /^([a-z-]+)\s*=\s*(\d{1,5}|forever)$/.exec(part) ?? []
    if (resource === undefined) {
      context.addIssue('must give days by resource, such as territories=7,guilds=forever')
      return z.NEVER
    }
    days[resource] = value === 'forever' ? Number.POSITIVE_INFINITY : Number(value)
  }
  return days
}

/** `0.9,online-players=0.5`: a share for all, and others for single resources. */
export function readShares(text: string, context: z.RefinementCtx) {
  let plausibleShare = 0.9
  const plausibleShares: Record<string, number> = {}
  for (const [, resource, value] of text.split(',').map((part) => /^\s*(?:([a-z-]+)=)?(.*)$/.exec(part) ?? [])) {
    const { success, data = 0 } = share.safeParse(value?.trim() || undefined)
    if (!success) {
      context.addIssue('must lie between 0 and 1, such as 0.9 or 0.9,online-players=0.5')
      return z.NEVER
    }
    if (resource === undefined) plausibleShare = data
    else plausibleShares[resource] = data
  }
  return { plausibleShare, plausibleShares }
}

/** @throws UsageError when the text of a flag is no whole number from 0 to `max` */
export function wholeNumber(flag: string, text: string, max = 999_999_999): number {
  const value = Number(text)
  if (!/^\d{1,15}$/.test(text) || value > max)
    throw new UsageError(`${flag} must be a whole number up to ${max}, got ${text}`)
  return value
}
