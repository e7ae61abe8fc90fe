import type { ResponseFault } from '../http/classify-response.ts'
import type { ApiRequest } from '../http/request.ts'

/** The API does not accept the client's credential any more. */
export interface CredentialRefusal {
  /** What happened and what to do about it; holds no credential. */
  readonly message: string
  /** 401 or 403. */
  readonly status: number
  /** The error's name, such as `InvalidTokenError`; null when it had none. */
  readonly kind: string | null
}

/** Errors that name the credential as what is wrong (API reference 2.5). */
const NAMED = ['InvalidTokenError', 'MalformedTokenError']

/** Statuses that are about the request and not about the credential. */
const ABOUT_THE_REQUEST: readonly (number | null)[] = [300, 400, 404]

/**
 * Watches whether the credential is still accepted. A credential that an error names is given up at once. A 401 that
 * names nothing may be the route's own: the credential is given up only when the route then responds to a guest.
 * @param present whether there is a credential at all
 */
export function watchCredential(present: boolean, onRefused: ((refusal: CredentialRefusal) => void) | undefined) {
  let given = present

  function giveUp({ status, kind }: ResponseFault): void {
    if (!given) return
    given = false
    const reason = kind === null ? String(status) : `${status} ${kind}`
    const message =
      `the API refuses the token (${reason}): going on without it, with lower limits and only public data; ` +
      'renew the token, or log in again with "wynnsync auth login"'
    onRefused?.({ message, status: status ?? 401, kind })
  }

  return {
    /** True when a request must go without it now. */
    goesAsGuest: ({ credential = 'optional' }: ApiRequest): boolean => {
      if (credential === 'required') return !present
      return credential === 'none' || !given
    },
    /** True when this fault blames the credential and the same request may be tried without it. */
    blames({ credential = 'optional' }: ApiRequest, fault: ResponseFault): boolean {
      if (credential !== 'optional' || !present) return false
      const { status, kind } = fault
      const named = kind !== null && NAMED.includes(kind)
      if (status !== 401 && !(status === 403 && named)) return false
      if (named) giveUp(fault)
      return true
    },
    /**
     * Records what came of the same request without the credential.
     * @param blamed the fault that `blames` was called with
     * @param then what was wrong without the credential; null when nothing was
     */
    triedAsGuest(blamed: ResponseFault, then: ResponseFault | null): void {
      if (then === null || (then.failure === null && ABOUT_THE_REQUEST.includes(then.status))) giveUp(blamed)
    },
  }
}
