import type { CommandGroup } from '../../command.ts'
import { option, wide } from '../../options.ts'

export const runs: CommandGroup = {
  usage: 'runs',
  summary: 'the ledger: what was run when, and what came of it',
  examples: ['wynnsync runs --failed --since -7d', 'wynnsync runs show 3f2a91c0'],
  commands: [
    {
      usage: 'list [resource...]',
      isDefault: true,
      summary: 'runs of the named resources, or of all, the newest first; also `wynnsync runs`',
      options: [
        option('--failed', 'only runs that failed or were rejected'),
        option('--since <instant>', 'only runs that began since then: 2026-05-01T08:00Z, yesterday, -12h, -7d'),
        option('--limit <runs>', 'at most that many, 0 for all (default: 30)'),
        wide,
      ],
      examples: ['wynnsync runs list', 'wynnsync runs list --failed --since -7d', 'wynnsync runs --limit 5 --json'],
      load: async () => (await import('./runs-command.ts')).runsList,
    },
    {
      usage: 'show <id>',
      summary: 'everything about one run: requests, responses by key, guards, quarantine, drift',
      notes: `An id is the run_id of the ledger, or its beginning as \`runs list\` shows it. Requests are there for as long as responses
are archived (WYNNSYNC_RAW_DAYS).`,
      options: [wide],
      examples: ['wynnsync runs show 3f2a91c0', 'wynnsync runs show 3f2a91c0 --json | jq .guards'],
      load: async () => (await import('./runs-command.ts')).runsShow,
    },
  ],
}
