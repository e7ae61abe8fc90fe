import type { Command } from 'commander'
import { command, concurrency, examples, type Run } from '../../options.ts'

/** The commands of a server that nobody looks after. */
export function addUnattended(program: Command, run: Run): void {
  command(program, 'start', 'sync everything when it is due, until it is told to stop')
    .addOption(concurrency())
    .option('--metrics-port <number>', 'serve metrics for Prometheus, and /healthz, on this port (0 takes a free one)')
    .option('--metrics-host <address>', 'the address they are served on (default: 127.0.0.1)')
    .addHelpText(
      'after',
      `
Territories and the online list are asked for whenever the API has something new, the databases by their schedule, and
what is left of the budget goes to the stalest guilds and players. SIGTERM or Ctrl-C ends it within ten seconds.
${examples([
  'wynnsync start',
  'wynnsync start --metrics-port 9464',
  'WYNNSYNC_SCHEDULE="territories=*/5 * * * *; players=off" wynnsync start',
  'nohup wynnsync start 2>> wynnsync.log &',
])}`,
    )
    .action(async (options, self: Command) => {
      const { startCommand } = await import('./start.ts')
      await run(self, (context) => startCommand(context, options))
    })

  command(program, 'doctor', 'look for what is wrong: database, disk, API, clock, headers, credential')
    .addOption(concurrency())
    .addHelpText('after', examples(['wynnsync doctor', 'wynnsync doctor --json']))
    .action(async (_options, self: Command) => {
      const { doctorCommand } = await import('../doctor/doctor.ts')
      await run(self, doctorCommand)
    })
}
