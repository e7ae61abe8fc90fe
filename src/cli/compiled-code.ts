import module from 'node:module'

/** Since Node 22.1, which its types for Node 20 do not say. */
type Keeper = typeof module & { enableCompileCache?: (folder: string) => unknown }

/**
 * Lets Node keep what it compiles from here on, so that the next command starts faster; nothing where Node cannot. In a
 * folder of the user's own: code must not come from one that others may write. One that cannot be written is no error.
 */
export async function keepCompiledCode(keeper: Keeper = module): Promise<void> {
  if (!keeper.enableCompileCache) return
  const { default: envPaths } = await import('env-paths')
  keeper.enableCompileCache(envPaths('wynnsync', { suffix: '' }).cache)
}
