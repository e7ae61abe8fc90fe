import type { HttpExchange } from '../../../api/http/http-exchange.ts'

/**
 * What is removed when a player restricts something. `anonymize`: the values of that field group. `delete`: everything
 * that was kept of the player until then.
 */
export type PrivacyPolicy = 'anonymize' | 'delete'

/** Kind of credential that a request was sent with. An access token of OAuth counts as a token. */
export type CredentialKind = HttpExchange['credential']

/** Whose responses set rules, and when. */
export interface RuleSource {
  readonly resource: string
  /** The key that the response is about; empty where it holds all of a resource. */
  readonly key: string
  /** The instant that the response speaks for; of a refusal, when it came. */
  readonly at: Date
  /** When it came, by the clock of this machine. */
  readonly receivedAt: Date
  readonly runId: string
  readonly policy: PrivacyPolicy
}

/** How `sync.privacy_restriction` names a source. */
export function nameOf({ resource, key }: Pick<RuleSource, 'resource' | 'key'>): string {
  return `${resource}/${key}`
}
