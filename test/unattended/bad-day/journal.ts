import type { IncomingHttpHeaders } from 'node:http'
import type { Headers } from '../../../src/api/http/response-headers.ts'

/** One request that came to the API's door, and what became of it. */
export interface Visit {
  /** By the clock of the play, when the request was let in: the instant at which it counts. Ms since the epoch. */
  readonly at: number
  /** Below the base path. */
  readonly path: string
  readonly bucket: string
  /** What the sender was told; null: nothing. */
  readonly status: number | null
  /** Which life sent it. */
  readonly sender: string
}

/** An answer that was delivered whole. */
export interface Delivered extends Visit {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
  /** When its headers came, by the clock of the play. */
  readonly toldAt: number
}

/** Of response headers as node has them. */
export function headersOf(headers: IncomingHttpHeaders): Headers {
  return new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

/** The bucket of a path, as the written interface has it. */
export function bucketOf(path: string): string {
  return path.split('/')[1]?.toUpperCase() ?? ''
}
