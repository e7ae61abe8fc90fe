import type { CommandGroup } from '../../command.ts'
import { consentFlags, wide } from '../../options.ts'

export const webKey: CommandGroup = {
  usage: 'web-key',
  summary: 'keys of the read API, for programs that need more requests',
  notes: `A request with the header "Authorization: Bearer KEY" or "X-API-Key: KEY" has a limit of its own: ten times that of an address.
A server knows a new key, and no longer one that was removed, after ten seconds.`,
  examples: [
    'wynnsync web-key add my-bot',
    'curl -H "Authorization: Bearer KEY" http://127.0.0.1:8080/api/v1/freshness',
  ],
  commands: [
    {
      usage: 'add <name>',
      summary: 'make a key and print it; only its hash is kept, so it is printed once',
      examples: ['wynnsync web-key add my-bot', 'wynnsync web-key add my-bot --quiet > key.txt'],
      load: async () => (await import('./web-key-command.ts')).webKeyAdd,
    },
    {
      usage: 'list',
      summary: 'the names of all keys',
      options: [wide],
      examples: ['wynnsync web-key list'],
      load: async () => (await import('./web-key-command.ts')).webKeyList,
    },
    {
      usage: 'remove <name>',
      summary: 'remove a key',
      options: consentFlags('the keys that there are'),
      examples: ['wynnsync web-key remove my-bot --dry-run', 'wynnsync web-key remove my-bot --yes'],
      load: async () => (await import('./web-key-command.ts')).webKeyRemove,
    },
  ],
}
