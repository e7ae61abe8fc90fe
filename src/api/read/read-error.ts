import type { ProblemName } from './questions.ts'

/** What a problem document says besides its type; others than the read API send less. */
interface ProblemDocument {
  readonly type?: unknown
  readonly title?: unknown
  readonly detail?: unknown
  readonly argument?: unknown
  readonly similar?: unknown
  readonly holders?: unknown
}

/** A request that the read API did not answer with rows: problem details (RFC 9457), or what a proxy sent in their place. */
export class ReadApiError extends Error {
  /** HTTP status. */
  readonly status: number
  /** What is wrong, for programs; undefined when the response is no problem document of the read API. */
  readonly problem: ProblemName | undefined
  /** The argument that is wrong. */
  readonly argument: string | undefined
  /** Of a name that nothing has or had: names that are like it. */
  readonly similar: readonly string[]
  /** Of an ambiguous name: all that have or had it. */
  readonly holders: readonly Readonly<Record<string, unknown>>[]
  /** Seconds to wait before the next request; undefined when the response gives none. */
  readonly retryAfter: number | undefined

  constructor(status: number, body: unknown, retryAfter?: string | null) {
    const { type, title, detail, argument, similar, holders } = recordOf(body)
    super(textOf(detail) ?? textOf(title) ?? `the read API answered with status ${status}`)
    this.name = 'ReadApiError'
    this.status = status
    this.problem = textOf(type)?.match(/#([a-z-]+)$/)?.[1] as ProblemName | undefined
    this.argument = textOf(argument)
    this.similar = Array.isArray(similar) ? similar.map(String) : []
    this.holders = Array.isArray(holders) ? holders.map((one) => ({ ...recordOf(one) })) : []
    this.retryAfter = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined
  }
}

function recordOf(value: unknown): ProblemDocument {
  return typeof value === 'object' && value !== null ? value : {}
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
