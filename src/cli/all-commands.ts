import type { CommandDeclaration, CommandGroup } from './command.ts'
import { auth } from './commands/auth/index.ts'
import { backfill } from './commands/backfill/index.ts'
import { backup, restore } from './commands/backup/index.ts'
import { completeOf, completion } from './commands/completion/index.ts'
import { config } from './commands/config/index.ts'
import { demo } from './commands/demo/index.ts'
import { dictionary } from './commands/dictionary/index.ts'
import { doctor } from './commands/doctor/index.ts'
import { init } from './commands/init/index.ts'
import { lake } from './commands/lake/index.ts'
import { mcp } from './commands/mcp/index.ts'
import { migrate } from './commands/migrate/index.ts'
import { move } from './commands/move/index.ts'
import { privacy } from './commands/privacy/index.ts'
import { quarantine } from './commands/quarantine/index.ts'
import { query } from './commands/query/index.ts'
import { replay } from './commands/replay/index.ts'
import { report } from './commands/report/index.ts'
import { retract } from './commands/retract/index.ts'
import { runs } from './commands/runs/index.ts'
import { sandbox } from './commands/sandbox/index.ts'
import { serve } from './commands/serve/index.ts'
import { serveDb } from './commands/serve-db/index.ts'
import { start } from './commands/start/index.ts'
import { status } from './commands/status/index.ts'
import { sync } from './commands/sync/index.ts'
import { verify } from './commands/verify/index.ts'
import { watch } from './commands/watch/index.ts'
import { webKey } from './commands/web-key/index.ts'

/** All commands, in the order of `--help`, by what they are for. */
export const commandGroups: Readonly<Record<string, readonly (CommandDeclaration | CommandGroup)[]>> = {
  Begin: [demo, init, auth, config],
  Record: [sync, start, backfill],
  Ask: [query, report, dictionary, serve, mcp, serveDb, lake, watch],
  'Look after': [status, doctor, runs, quarantine, replay, retract, verify, backup, restore, migrate, move, privacy],
  Others: [sandbox, webKey, completion, completeOf(() => commands)],
}

export const commands: readonly (CommandDeclaration | CommandGroup)[] = Object.values(commandGroups).flat()
