import { readHttpDate } from '../http/response-headers.ts'
import type { ApiResponse } from '../response.ts'

/**
 * When another request may bring something new, by the clock that `receivedAt` was read from: the copy's remaining life as
 * the server counts it (`Expires` minus `Date`), so that a clock that is off does not matter. API reference 2.3.
 * @returns ms since the epoch, or null when the response does not say when it expires, or had expired when it came
 */
export function renewAt(
  response: Pick<ApiResponse<unknown>, 'receivedAt' | 'expiresAt' | 'headers'> | { readonly expiresAt: null },
): number | null {
  if (response.expiresAt === null) return null
  const { receivedAt, expiresAt, headers } = response
  const life = expiresAt - (readHttpDate(headers.get('date')) ?? receivedAt)
  return life > 0 ? receivedAt + life : null
}
