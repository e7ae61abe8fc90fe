import { type Api, createClient } from '../../../src/api/client.ts'
import { classifyResponse, faultError } from '../../../src/api/http/classify-response.ts'
import type { Outcome } from '../../../src/api/http/outcome.ts'
import { wireRequest } from '../../../src/api/http/request.ts'
import { offline } from '../../../src/api/http/transport.ts'
import { toApiResponse } from '../../../src/api/response.ts'
import { type AnswerSource, type Copy, isRefusal } from '../../../src/sandbox/http/answer.ts'

/** A client that is answered by a source of the sandbox as of `now()` (ms), without HTTP in between. */
export function apiOf(source: AnswerSource, now: () => number): Api {
  const send = async (request: Parameters<typeof wireRequest>[0]) => {
    const { method, target } = wireRequest(request)
    const [path = '', query = ''] = target.split('?')
    const found = source.answer({ method, path: decodeURIComponent(path), query: new URLSearchParams(query) }, now())
    const outcome = isRefusal(found) ? refused(found.status, found.detail, now()) : answered(found, now())
    const fault = classifyResponse(outcome)
    if (fault !== null) throw faultError(fault, outcome, path, 1)
    return toApiResponse(outcome, 1)
  }
  return createClient({ transport: offline(send) })
}

const plain = { failure: null, reason: '', bytes: 0 }

function answered({ plain: write, headers, producedAt, maxAge }: Copy, receivedAt: number): Outcome {
  const said = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const telling = [
    ['cache-control', `max-age=${maxAge}`],
    ['expires', new Date(producedAt + maxAge * 1000).toUTCString()],
  ] as const
  const body: unknown = JSON.parse(Buffer.from(write()).toString())
  return { ...plain, status: 200, headers: new Map([...telling, ...said]), body, receivedAt }
}

function refused(status: number, detail: string, receivedAt: number): Outcome {
  const headers = new Map([['date', new Date(receivedAt).toUTCString()]])
  return { ...plain, status, headers, body: { error: 'Refused', detail, code: status }, receivedAt }
}
