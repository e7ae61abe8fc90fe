import type { ApiRequest } from './http/answer.ts'

/** One request as a response hook sees it. */
export interface HookedRequest extends ApiRequest {
  readonly headers: Readonly<Record<string, string>>
  /** Sandbox clock, ms since the epoch. */
  readonly now: number
}

/**
 * What a hook answers instead of the route. `body` is sent as it is when it is text or bytes, otherwise as JSON.
 * With status 200 the usual cache headers are set, produced now; `headers` override them, null leaves one out.
 */
export interface HookAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body: unknown
}

/** Replaces the responses of one route; null or undefined lets the route answer as usual. */
export type AnswerHook = (
  request: HookedRequest,
) => HookAnswer | null | undefined | Promise<HookAnswer | null | undefined>
