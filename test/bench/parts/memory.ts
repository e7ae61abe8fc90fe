import { runNode } from '../child.ts'
import type { Part } from '../part.ts'
import { startSandbox } from '../sync.ts'
import type { Outcome } from '../target.ts'

/** Requests that a guest may send in a minute, less the list of guilds and the online list. */
const KEYS = '45'
const SECONDS = 60

/** Processes whose memory counts, in this order on one database of a server: the worklists need the lists. */
const works: readonly { what: string; args: readonly string[]; atMost?: number; stopAfter?: number }[] = [
  { what: 'lists', args: ['sync', 'guild-list', 'online-players'] },
  { what: `${KEYS} guilds`, args: ['sync', 'guilds', '--limit', KEYS], atMost: 130 },
  { what: `${KEYS} players`, args: ['sync', 'players', '--limit', KEYS], atMost: 130 },
  // It syncs every resource for the first time; a day of it is simulated by the tests, in which its heap is flat.
  { what: `start, ${SECONDS} s`, args: ['start'], atMost: 180, stopAfter: 1000 * SECONDS },
]

/** The most memory of runs of the worklists and of `start`. */
export const memory: Part = async ({ program, createDatabase, say }) => {
  const sandbox = await startSandbox(program)
  try {
    const variables = { DATABASE_URL: await createDatabase('memory'), WYNNSYNC_BASE_URL: sandbox.url }
    const rows: { work: string; 'wall ms': number; 'cpu ms': number; 'peak MB': number }[] = []
    const outcomes: Outcome[] = []
    for (const { what, args, atMost, stopAfter } of works) {
      const { wallMs, cpuMs, peakMb } = await runNode(
        [program, ...args, '--log-level', 'warn'],
        variables,
        stopAfter === undefined ? {} : { stopAfter },
      )
      const measured = Math.round(peakMb)
      rows.push({ work: what, 'wall ms': Math.round(wallMs), 'cpu ms': Math.round(cpuMs), 'peak MB': measured })
      if (atMost !== undefined)
        outcomes.push({ target: { name: `4 ${what}`, unit: 'MB', bound: { of: 'measured', atMost } }, measured })
    }
    say('Memory of runs by keys and of start, sandbox beside it', rows)
    return outcomes
  } finally {
    await sandbox.stop()
  }
}
