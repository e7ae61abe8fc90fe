import { type CredentialSources, chooseCredential } from '../../../app/stored-credential.ts'
import { accountOf } from '../../../sync/budget/database-budget-store.ts'

/**
 * The account of a budget for a person: `guest`, `token of NAME`, `token of WYNNSYNC_TOKEN`, and of others `another token` with the
 * start of its hash; with the server where it is not the configured one.
 */
export function whoIs(account: string, sources: CredentialSources | null): string {
  const [origin = '', who = ''] = account.split(' ')
  const at = sources === null || origin === new URL(sources.baseUrl).origin ? '' : ` at ${origin}`
  if (who === 'guest') return `guest${at}`
  const own = sources === null ? undefined : ownAccount(sources)
  return own?.account === account ? `token of ${own.name}` : `another token (${who.slice(0, 6)})${at}`
}

/** The account that requests of this configuration are counted for; undefined for a guest. */
function ownAccount(sources: CredentialSources): { account: string; name: string } | undefined {
  try {
    const credential = chooseCredential(sources)
    if (credential === null) return undefined
    const { from, stored } = credential
    const name = from === 'file' ? (stored?.who?.username ?? stored?.who?.uuid ?? 'the stored login') : from
    return { account: accountOf(sources.baseUrl, credential.token()), name }
  } catch {
    // A file that cannot be used is no concern of a status; `doctor` names it.
    return undefined
  }
}
