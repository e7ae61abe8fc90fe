import type { Command } from 'commander'
import { command, examples, type Run } from '../../options.ts'

/** The command that makes tables anew from what the API sent then. */
export function addReplay(program: Command, run: Run): void {
  command(program, 'replay [resource...]', 'make tables anew from the raw answers, and show what differs')
    .option('--yes', 'put what was made in the place of what is there')
    .option('--keep', 'leave the schemas game_replay and sync_replay, to look into them')
    .addHelpText(
      'after',
      `
For when a newer version of this program understands more of what the API sent. Nothing is changed without --yes. The API
is not asked, and syncs may go on meanwhile. A resource that holds more than its raw answers tell is left alone.
${examples(['wynnsync replay items', 'wynnsync replay items recipes --yes', 'wynnsync replay --json | jq .tables'])}`,
    )
    .action(async (names: string[], options, self: Command) => {
      const { replayCommand } = await import('./replay-command.ts')
      await run(self, (context) => replayCommand(names, options, context))
    })
}
