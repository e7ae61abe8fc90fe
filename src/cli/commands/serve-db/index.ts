import type { CommandDeclaration } from '../../command.ts'
import { option } from '../../options.ts'

export const serveDb: CommandDeclaration = {
  usage: 'serve-db',
  summary: 'serve the embedded database read-only over the Postgres protocol',
  options: [
    option('--port <number>', 'port to listen on (default: 5433; 0 takes a free one)'),
    option('--host <address>', 'address to listen on (default: 127.0.0.1)'),
    option('--password <password>', 'password of the clients; required with a --host that other machines reach'),
  ],
  notes: `Clients may read the analytics schema and change nothing. All share one session: a statement or transaction waits for the
end of the one before it, and nothing can be synced meanwhile.`,
  examples: ['wynnsync serve-db', 'psql -h 127.0.0.1 -p 5433 -c "select * from analytics.freshness"'],
  load: async () => (await import('./serve-db-command.ts')).serveDbCommand,
}
