/** What an application can be allowed to see (API reference 3.1). */
export const knownScopes = [
  'identify',
  'main_access',
  'character_list_access',
  'character_data_access',
  'character_build_access',
  'online_status',
  'hunted_characters_access',
  'guild_history_access',
  'guild_high_ranked_access',
] as const

/** Reads a space-separated list, each scope once; undefined when it is empty or names one that does not exist. */
export function parseScopes(text: string): string[] | undefined {
  const scopes = [...new Set(text.split(' ').filter((scope) => scope !== ''))]
  const known: readonly string[] = knownScopes
  return scopes.length > 0 && scopes.every((scope) => known.includes(scope)) ? scopes : undefined
}
