import { version } from '../../../app/app.ts'
import type { Database } from '../../../db/database.ts'
import { nameFinders as finders } from '../../../resources/key-names.ts'
import { type Context, untilAborted, withDatabase } from '../../context.ts'
import { loadMcp } from '../serve/open-web.ts'

/** How long a statement may take, ms. */
const STATEMENT_TIMEOUT_MS = 30_000

/** `mcp`: serves the questions as tools until stdin ends, SIGTERM or Ctrl-C. */
export async function mcpCommand(context: Context, { people = true }: { readonly people?: boolean }): Promise<void> {
  const { serveMcp } = await loadMcp('mcp')
  const { clock } = context.app
  const work = async (db: Database) => {
    context.progress.stop()
    const server = await serveMcp({ db, finders, clock, version, people, timeoutMs: STATEMENT_TIMEOUT_MS })
    await Promise.race([server.ended, untilAborted(context)])
    await server.close()
  }
  return await withDatabase(context, 'mcp', work, { stays: true })
}
