import type { CommandGroup } from '../../command.ts'
import { consentFlags, option, repeatable, wide } from '../../options.ts'

export const watch: CommandGroup = {
  usage: 'watch',
  summary: 'rules that send a message when something happens',
  notes: `The rules are kept in the database. wynnsync start sends the messages, and so does every wynnsync sync when it ends.`,
  examples: [
    'wynnsync watch add mine --event captured --event lost --guild ABC --discord https://...',
    'wynnsync watch list',
  ],
  commands: [
    {
      usage: 'add <name>',
      summary: 'add a rule, or replace the one of this name',
      options: [
        repeatable(
          '--event <event>',
          "captured, lost, joined, left, rank, 'item changed', patch, 'world down', online, news, 'freshness late', level, counter, 'rating gap', 'in pool' or 'event soon'; several times for several",
        ),
        repeatable('--guild <guild>', 'only this guild: name, prefix or uuid; several times for several'),
        repeatable('--territory <territory>', 'only this territory; several times for several'),
        repeatable('--player <player>', 'only this player; several times for several'),
        repeatable('--item <item>', 'only this item, or this reward of pools; several times for several'),
        repeatable('--world-event <name>', 'only this world event; several times for several'),
        option(
          '--counter <counter>',
          "with --event counter: its kind and name, such as 'member contributed' or 'player wars'",
        ),
        option('--above <number>', 'with --counter: when it comes to so much'),
        option('--gains <number>', 'with --counter: when it rose by so much within 24 hours'),
        option('--gap <rating>', "with --event 'rating gap': when a guild next to it in the season is so close"),
        option(
          '--before <duration>',
          "with --event 'event soon': how long before it begins, such as 10m (default: 10m)",
        ),
        option('--at-least <events/minutes>', 'only when so many come within so many minutes, such as 5/10'),
        option(
          '--quiet-hours <hours>',
          'send later what comes then, such as "22:00-07:00 Europe/Berlin" (default: UTC)',
        ),
        option('--collect <duration>', 'what comes within so long is one message, such as 90s or 5m (default: 60s)'),
        option('--group <seconds>', 'the older name of --collect').hideHelp(),
        option('--discord <url>', 'send to a webhook of Discord'),
        option('--slack <url>', 'send to a webhook of Slack'),
        option('--webhook <url>', 'send JSON to this URL'),
        option('--secret <text>', 'sign that JSON, as Standard Webhooks do'),
        option('--command <line>', 'run this with the JSON on stdin'),
        option('--site <url>', 'where wynnsync serve can be reached, for the links of all messages'),
      ],
      notes:
        'An option that is `-` is read from stdin, so that no other user of the machine can read it in the list of processes.',
      examples: [
        'wynnsync watch add mine --event captured --event lost --guild ABC --discord https://discord.com/api/webhooks/...',
        'wynnsync watch add war --event captured --guild ABC --at-least 5/10 --slack - < url.txt',
        "wynnsync watch add busy --event counter --counter 'member contributed' --gains 1000000 --guild ABC --slack - < url.txt",
        "wynnsync watch add soon --event 'event soon' --before 15m --discord https://discord.com/api/webhooks/...",
        "wynnsync watch add bows --event 'item changed' --item 'Oak Bow' --command 'mail -s bows me@example.org'",
      ],
      load: async () => (await import('./watch-command.ts')).watchAdd,
    },
    {
      usage: 'list',
      summary: 'the rules, without the secrets of their targets',
      options: [wide],
      examples: ['wynnsync watch list', 'wynnsync watch list --json'],
      load: async () => (await import('./watch-command.ts')).watchList,
    },
    {
      usage: 'test <name>',
      summary: 'send a message of this rule now, so that you see whether it arrives',
      examples: ['wynnsync watch test mine'],
      load: async () => (await import('./watch-command.ts')).watchTest,
    },
    {
      usage: 'remove <name>',
      summary: 'remove a rule, and the address of its target',
      options: consentFlags('the rule'),
      examples: ['wynnsync watch remove mine --dry-run', 'wynnsync watch remove mine --yes'],
      load: async () => (await import('./watch-command.ts')).watchRemove,
    },
  ],
}
