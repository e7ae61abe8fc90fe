import type { CommandDeclaration } from '../../command.ts'
import { option } from '../../options.ts'

export const sandbox: CommandDeclaration = {
  usage: 'sandbox',
  summary: 'serve a simulated API on this machine',
  options: [
    option('--port <number>', 'port on 127.0.0.1 (default: 8080; 0 takes a free one)'),
    option('--dialect <dialect>', 'form of the API').choices(['live', 'documented']),
    option('--seed <number>', 'which world to generate (default: 1)'),
    option('--page-size <number>', 'records per page (default: 20)'),
    option('--recordings <folder>', 'serve recorded responses instead of a generated world'),
    option('--at <instant>', 'when its time begins (default: now; of recordings, with the first item database)'),
    option('--speed <number>', 'seconds of its time per second (default: 1)'),
    option(
      '--faults <plan>',
      'spoil responses: storm:0.1,gateway:0.5@60-120/guild or all (GET /__sandbox/faults lists them)',
    ),
  ],
  examples: ['wynnsync sandbox --port 8080', 'curl http://127.0.0.1:8080/v3/item/sets'],
  load: async () => (await import('./sandbox-command.ts')).sandboxCommand,
}
