import type { CommandDeclaration } from '../../command.ts'
import { concurrency, option } from '../../options.ts'

export const init: CommandDeclaration = {
  usage: 'init',
  summary: 'set up this folder in three questions: where the history lives, token or guest, how to run',
  options: [
    option('--yes', 'ask nothing: take what flags and the present settings say'),
    option('--dry-run', 'only print what would be written into .env, and how to run it'),
    option('--systemd', 'print a systemd unit'),
    option('--cron', 'print crontab lines'),
    concurrency,
  ],
  notes: `Writes .env in the working directory, for your eyes only (mode 0600). Settings that are there already and are not asked about
stay. With a server of your own it does not offer compose, which brings one. Then it checks everything as \`wynnsync doctor\` does, and prints how to run it on this machine.`,
  examples: ['wynnsync init', 'wynnsync init --yes --cron', 'wynnsync init --yes --systemd > wynnsync.service'],
  load: async () => (await import('./init-command.ts')).initCommand,
}
