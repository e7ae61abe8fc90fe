import type { CommandDeclaration, CommandGroup } from '../command.ts'
import { consentFlags, option, wide } from '../options.ts'

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
  load: async () => (await import('../commands/sandbox/sandbox-command.ts')).sandboxCommand,
}

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
      load: async () => (await import('../commands/web-key/web-key-command.ts')).webKeyAdd,
    },
    {
      usage: 'list',
      summary: 'the names of all keys',
      options: [wide],
      examples: ['wynnsync web-key list'],
      load: async () => (await import('../commands/web-key/web-key-command.ts')).webKeyList,
    },
    {
      usage: 'remove <name>',
      summary: 'remove a key',
      options: consentFlags('the keys that there are'),
      examples: ['wynnsync web-key remove my-bot --dry-run', 'wynnsync web-key remove my-bot --yes'],
      load: async () => (await import('../commands/web-key/web-key-command.ts')).webKeyRemove,
    },
  ],
}

export const completion: CommandDeclaration = {
  usage: 'completion <shell>',
  summary: 'print the completion script for bash, zsh or fish',
  notes: `bash: source <(wynnsync completion bash)  in ~/.bashrc
zsh:  source <(wynnsync completion zsh)   in ~/.zshrc, after compinit
fish: wynnsync completion fish > ~/.config/fish/completions/wynnsync.fish

Commands, flags, resources and questions are completed, and from a server (DATABASE_URL) the names that it knows.`,
  examples: ['wynnsync completion bash', 'wynnsync completion fish > wynnsync.fish'],
  load: async () => (await import('../commands/completion/complete-command.ts')).completionCommand,
}

/** What the scripts run: the words of the command line, of which the last is to be completed. @param all every command */
export function completeOf(all: () => readonly (CommandDeclaration | CommandGroup)[]): CommandDeclaration {
  return {
    usage: '__complete [words...]',
    isHidden: true,
    summary: 'the words that may follow, for the scripts of `completion`',
    examples: ['wynnsync __complete -- query terr'],
    load: async () => (await import('../commands/completion/complete-command.ts')).completeCommand(all()),
  }
}
