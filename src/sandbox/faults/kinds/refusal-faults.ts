import type { Random } from '../../../base/clock.ts'
import { pick } from '../../generator/draw.ts'
import { type Fault, noCache, noLimits, type Outgoing, withBody, withHeaders } from '../fault.ts'
import { isGuild, isProfile } from './json.ts'

const noSandboxHeaders = { ...noCache, ...noLimits }
const requestId = '7c0e1f2a5b3d4968a1b2c3d4e5f60718'

/** A refusal in the body of the application (API reference 2.5). */
function refused(answer: Outgoing, code: number, error: string, detail: string): Outgoing {
  return withBody({ ...withHeaders(answer, noCache), status: code }, JSON.stringify({ error, detail, code }))
}

/** A refusal in the body of the gateway, of today or of before mid-2025. */
function turnedAway(answer: Outgoing, status: number, message: string, withId: boolean): Outgoing {
  const body = withId ? { message, request_id: requestId } : { message }
  return withBody({ ...withHeaders(answer, noSandboxHeaders), status }, JSON.stringify(body))
}

/** A page of what stands before everything. */
function page(answer: Outgoing, status: number, title: string): Outgoing {
  const body = `<!DOCTYPE html>\n<html lang="en-US"><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`
  return withBody({ ...withHeaders(answer, noSandboxHeaders), status }, body, 'text/html; charset=UTF-8')
}

/** Responses from one wrong refusal to the next: two in a row would confirm each other. */
const apart = 4

function isPlayer(path: string): boolean {
  return isProfile(path) && !isGuild(path)
}

const upstream: Readonly<Record<number, string>> = {
  500: 'An unexpected error occurred',
  502: 'An invalid response was received from the upstream server',
  503: 'failure to get a peer from the ring-balancer',
}

/** 403 or 404 instead of a good response, in the words of what stands before the application: nothing follows from them. */
function strayRefusal(answer: Outgoing, status: 403 | 404, random: Random): Outgoing | undefined {
  if (answer.status !== 200) return undefined
  const message = status === 403 ? 'You cannot consume this service' : 'no Route matched with those values'
  const kind = pick(random, ['gateway', 'old gateway', 'html', 'empty'])
  if (kind === 'html') return page(answer, status, status === 403 ? 'Attention Required!' : '404 Not Found')
  if (kind === 'empty') return withBody(page(answer, status, ''), '', 'text/plain')
  return turnedAway(answer, status, message, kind === 'gateway')
}

/** Responses that say no where the API itself would not have. */
export const refusals = {
  storm: {
    about: '429 several times in a row, with rate-limit headers',
    run: 3,
    spoil: (answer) =>
      withHeaders(refused(answer, 429, 'TooManyRequest', 'Request limit exceeded.'), { 'ratelimit-remaining': '0' }),
  },
  'bare-storm': {
    about: '429 several times in a row, from the gateway and without rate-limit headers',
    run: 3,
    spoil: (answer) => turnedAway(answer, 429, 'API rate limit exceeded', true),
  },
  gateway: {
    about: '500, 502, 503 or 524, in the body of the application, of the gateway, or with none',
    spoil: (answer, { random }) => {
      const status = pick(random, [500, 502, 503, 524])
      if (status === 524) return withBody(page(answer, 524, 'A timeout occurred'), '', 'text/plain')
      if (status === 500 && random() < 0.5) return refused(answer, 500, 'InternalError', 'Something went wrong.')
      return turnedAway(answer, status, upstream[status] ?? '', random() < 0.5)
    },
  },
  html: {
    about: 'HTML instead of JSON, with 200, 502 or 524',
    spoil: (answer, { random }) =>
      page(answer, pick(random, [200, 502, 524]), pick(random, ['Just a moment...', '502: Bad gateway'])),
  },
  'stray-forbidden': {
    about: '403 about a player, from the gateway, in HTML or empty: no player hides',
    run: 2,
    on: isPlayer,
    spoil: (answer, { random }) => strayRefusal(answer, 403, random),
  },
  'stray-not-found': {
    about: '404 about a guild or a player, from the gateway, in HTML or empty: nothing is gone',
    run: 2,
    on: isProfile,
    spoil: (answer, { random }) => strayRefusal(answer, 404, random),
  },
  forbidden: {
    about: '403 about a player from the application itself, for one answer',
    run: apart,
    on: isPlayer,
    spoil: (answer, { position }) =>
      answer.status === 200 && position === 0
        ? refused(answer, 403, 'Forbidden', 'This player limits their visibility.')
        : undefined,
  },
  'not-found': {
    about: '404 about a guild or a player from the application itself, for one answer; then the same as before',
    run: apart,
    on: isProfile,
    spoil: (answer, { position }) =>
      answer.status === 200 && position === 0 ? refused(answer, 404, 'NotFound', 'Not found.') : undefined,
  },
  revoked: {
    about: '401 whenever a credential is sent',
    spoil: (answer, { hasCredential }) =>
      hasCredential ? refused(answer, 401, 'InvalidTokenError', 'The provided token is invalid.') : undefined,
  },
} as const satisfies Record<string, Fault>
