import type { IncomingHttpHeaders } from 'node:http'
import type { Headers } from '../../../../src/api/http/response-headers.ts'

/** One request that reached the API's proxy, and what became of it. */
export interface ProxiedRequest {
  /** By the simulated clock, when the request was let in: the instant at which it counts. Ms since the epoch. */
  readonly at: number
  /** Below the base path. */
  readonly path: string
  readonly bucket: string
  /** Of the response; null: there was none. */
  readonly status: number | null
  /** Name of the process that sent it. */
  readonly sender: string
}

/** A response that was delivered whole. */
export interface DeliveredResponse extends ProxiedRequest {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
  /** When its headers came, by the simulated clock. */
  readonly respondedAt: number
}

/** Response headers of Node in the form of the client. */
export function headersOf(headers: IncomingHttpHeaders): Headers {
  return new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

/** The bucket of a path, as the written interface has it. */
export function bucketOf(path: string): string {
  return path.split('/')[1]?.toUpperCase() ?? ''
}
