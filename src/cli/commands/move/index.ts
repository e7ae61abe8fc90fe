import type { CommandDeclaration } from '../../command.ts'
import { consentFlags, option } from '../../options.ts'

export const move: CommandDeclaration = {
  usage: 'move',
  summary: 'copy everything into another, empty database: from the embedded one to a server, or back',
  options: [
    option('--to <place>', 'postgres://user:password@host:5432/database, or a folder for an embedded database'),
    option('--merge', 'into a database that has history: of times that it did not observe itself'),
    ...consentFlags('what there is to move, and whether the other database can take it'),
  ],
  notes: `Into an empty database it asks nothing: that destroys nothing. With --merge it asks, and only history is taken, by the rules of backfill --from-lake; the target may go on syncing meanwhile. It needs
the package @duckdb/node-api. The source is the configured database. It stays as it is: nothing is written into it but migrations and locks. Stop what
syncs into it first. Interrupted at any instant, the same call goes on; until it is done, no other command opens the target.
A password in PGPASSWORD instead of the URL is not in the list of processes.`,
  examples: [
    'wynnsync move --to postgres://me@localhost/wynn --dry-run',
    'wynnsync move --to postgres://me@localhost/wynn',
    'DATABASE_URL=postgres://me@localhost/wynn wynnsync move --to ./data',
  ],
  load: async () => (await import('./move-command.ts')).moveCommand,
}
