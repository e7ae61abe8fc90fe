/** An application registered with the sandbox. */
export interface RegisteredClient {
  readonly id: string
  /** Absent for a public client, which proves itself with PKCE instead. */
  readonly secret?: string | undefined
  /** Redirect targets that must match exactly. */
  readonly redirectUris?: readonly string[] | undefined
  /** Accepts `http://localhost` and `http://127.0.0.1` with any port and path besides (default false). */
  readonly anyLoopback?: boolean | undefined
}

/** Registered when nothing else is asked for: one public client, one private one. */
export const defaultClients: readonly RegisteredClient[] = [
  { id: 'sandbox', anyLoopback: true },
  {
    id: 'sandbox-private',
    secret: 'sandbox-secret',
    anyLoopback: true,
    redirectUris: ['https://example.com/callback'],
  },
]

/** Whether a client may be sent back to `uri`: https, or http on this machine, and registered (API reference 3.1). */
export function acceptsRedirect(client: RegisteredClient, uri: string): boolean {
  if (!URL.canParse(uri)) return false
  const { protocol, hostname, hash, username, password } = new URL(uri)
  if (hash !== '' || username !== '' || password !== '') return false
  const loopback = protocol === 'http:' && ['localhost', '127.0.0.1'].includes(hostname)
  if (!loopback && protocol !== 'https:') return false
  return (loopback && client.anyLoopback === true) || (client.redirectUris ?? []).includes(uri)
}

/** What an application can be allowed to see (API reference 3.1). */
export const knownScopes: readonly string[] = (
  'identify main_access character_list_access character_data_access character_build_access online_status ' +
  'hunted_characters_access guild_history_access guild_high_ranked_access'
).split(' ')

/** Reads a space-separated list, each scope once; undefined when it is empty or names one that does not exist. */
export function parseScopes(text: string): string[] | undefined {
  const scopes = [...new Set(text.split(' ').filter((scope) => scope !== ''))]
  return scopes.length > 0 && scopes.every((scope) => knownScopes.includes(scope)) ? scopes : undefined
}
