import type { CommandGroup } from '../../command.ts'
import { concurrency, option, wide } from '../../options.ts'

export const quarantine: CommandGroup = {
  usage: 'quarantine',
  summary: 'records that could not be read: what was wrong where, and another try',
  examples: ['wynnsync quarantine', 'wynnsync quarantine show 12', 'wynnsync quarantine retry'],
  commands: [
    {
      usage: 'list [resource...]',
      isDefault: true,
      summary: 'records in quarantine, the newest first; also `wynnsync quarantine`',
      options: [option('--all', 'also those of which the latest response could be read'), wide],
      examples: ['wynnsync quarantine list', 'wynnsync quarantine --all --json | jq .quarantine[].path'],
      load: async () => (await import('./quarantine-command.ts')).quarantineList,
    },
    {
      usage: 'show <id>',
      summary: 'one record as the API sent it, with the path of what is wrong',
      options: [wide],
      examples: ['wynnsync quarantine show 12', 'wynnsync quarantine show 12 --json | jq .raw'],
      load: async () => (await import('./quarantine-command.ts')).quarantineShow,
    },
    {
      usage: 'retry [id...]',
      summary: 'request again what the records are about, and load what can be read now',
      options: [concurrency],
      notes: `Without ids: all records whose latest response could not be read. Nothing is removed: a record stays as the API sent it, and
is over once a later response about the same could be read. After an update of this program, \`wynnsync replay\` reads past responses
again.`,
      examples: ['wynnsync quarantine retry', 'wynnsync quarantine retry 12 13'],
      load: async () => (await import('./quarantine-retry.ts')).quarantineRetry,
    },
  ],
}
