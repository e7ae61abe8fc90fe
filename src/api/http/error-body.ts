import type { Refusal } from '../errors.ts'
import { storable } from '../schemas/form/limits.ts'
import { isFields } from '../schemas/form/unknown.ts'

/**
 * Whether the application itself wrote an error body: an error name, with its detail and its code (API reference 2.5). A
 * gateway writes a message instead, and other frameworks put other fields beside the name. Only the application knows
 * anything of a player or a guild.
 * @param status the HTTP status, or the one that the body names
 */
export function isFromApplication(status: number, body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  const { error, detail, code, message }: Record<string, unknown> = { ...body }
  if (message !== undefined || typeof error !== 'string' || !/^[A-Za-z]+$/.test(error)) return false
  if (code !== undefined) return code === status
  return typeof detail === 'string' || Object.keys(body).length === 1
}

/** Reads an error body of either family, or none at all. */
export function readRefusal(status: number, path: string, body: unknown, respondedAt?: number): Refusal {
  const fields: Record<string, unknown> = typeof body === 'object' && body !== null ? { ...body } : {}
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? storable(value) : null)
  const kind = text(fields.error)
  const detail = text(fields.detail) ?? text(fields.message)
  return { status, kind, detail, path, objects: status === 300 ? readObjects(fields, kind) : {}, respondedAt }
}

/**
 * True for a body that is an error although its status says success. The values are checked too: a listing keyed by
 * name may well have an entry called "error" or "message".
 */
export function isErrorBody(body: unknown): body is Record<string, unknown> {
  if (!isFields(body)) return false
  if ('error' in body && typeof body.error === 'string') return true
  if (!('message' in body) || typeof body.message !== 'string') return false
  return Object.keys(body).every((key) => key === 'message' || key === 'request_id')
}

// Before release 3.5 the map of matches was the whole body, without envelope (API reference 2.5).
function readObjects(fields: Record<string, unknown>, kind: string | null): Record<string, unknown> {
  if (typeof fields.objects === 'object' && fields.objects !== null) return { ...fields.objects }
  return kind === null ? fields : {}
}
