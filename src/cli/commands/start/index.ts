import type { CommandDeclaration } from '../../command.ts'
import { acceptBaseUrl, concurrency, option, webOptions } from '../../options.ts'

export const start: CommandDeclaration = {
  usage: 'start',
  summary: 'sync everything when it is due, until SIGTERM or Ctrl-C',
  options: [
    concurrency,
    acceptBaseUrl,
    option('--replace', 'stop another start on this database, and take its place once it has ended'),
    option('--metrics-port <number>', 'serve metrics for Prometheus, and /healthz, on this port (0 takes a free one)'),
    option('--metrics-host <address>', 'address of the metrics (default: 127.0.0.1)'),
    option(
      '--web-port <number>',
      'serve pages and the read API on this port, as wynnsync serve does (0 takes a free one)',
    ),
    option('--web-host <address>', 'its address (default: 127.0.0.1; with --public 0.0.0.0)'),
    ...webOptions,
  ],
  notes: `Each resource is synced by its schedule; what is left of the budget goes to the stalest keys of the worklists. SIGTERM or
Ctrl-C ends it within ten seconds.`,
  examples: [
    'wynnsync start',
    'wynnsync start --replace',
    'wynnsync start --metrics-port 9464 --web-port 8080',
    'WYNNSYNC_SCHEDULE="territories=*/5 * * * *; players=off" wynnsync start',
    'nohup wynnsync start 2>> wynnsync.log &',
  ],
  load: async () => (await import('./start-command.ts')).startCommand,
}
