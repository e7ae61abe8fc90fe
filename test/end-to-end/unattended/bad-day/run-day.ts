import { faultNames } from '../../../../src/sandbox/index.ts'
import { letPass } from '../../../support/pending.ts'
import type { Environment } from './environment.ts'
import { type Failure, failuresOf } from './failures.ts'
import { runBackfill, runCrontab, runStart } from './processes.ts'

const MINUTE = 60_000

/** Lengths in minutes. */
export interface DayLength {
  readonly seed: number
  /** In which everything fails. */
  readonly minutes: number
  /** Without failures, after them. */
  readonly calm: number
}

/**
 * All of them. Old copies are what a history suffers from most. A swap of two holders is left out: the last response before
 * an outage may show one, and nothing that comes afterwards contradicts it.
 */
const faults = Object.fromEntries(
  faultNames.filter((name) => name !== 'swapped-territories').map((name) => [name, name === 'stale' ? 0.1 : 0.01]),
)

/** Runs all processes through so many minutes of random failures, which follow from the seed, then calm ones, and stops them. */
export async function runDay(environment: Environment, { seed, minutes, calm }: DayLength): Promise<void> {
  const { clock, sandbox, stopping } = environment
  const kills = { isOver: false }
  sandbox.setFaults(faults, seed)
  const processes = [
    runStart(environment, seed * 10 + 1, kills),
    runCrontab(environment, seed * 10 + 2, kills, ['* * * * *', 'territories']),
    runCrontab(environment, seed * 10 + 3, kills, ['* * * * *', 'online-players']),
    runCrontab(environment, seed * 10 + 4, kills, ['*/2 * * * *', 'guilds']),
    runBackfill(environment, seed * 10 + 5, kills, 'players'),
  ]
  const startedAt = clock.now()
  const moments = failuresOf(minutes, seed)
    .flatMap((failure): { at: number; begins: boolean; failure: Failure }[] => [
      { at: failure.from, begins: true, failure },
      { at: failure.until, begins: false, failure },
    ])
    .sort((a, b) => a.at - b.at || Number(b.begins) - Number(a.begins))
  for (const { at, begins, failure } of moments) {
    await letPass(clock, startedAt + at - clock.now())
    await (begins ? environment.begin(failure) : environment.recover(failure))
  }
  await letPass(clock, startedAt + minutes * MINUTE - clock.now())
  sandbox.setFaults(null)
  kills.isOver = true
  await letPass(clock, calm * MINUTE)
  stopping.abort(new Error('the day is over'))
  await Promise.all(processes)
}
