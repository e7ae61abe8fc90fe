import { letPass } from '../../support/pending.ts'
import { playBackfill, playCrontab, playStart } from './actors.ts'
import { type Misfortune, misfortunesOf } from './misfortunes.ts'
import type { Theatre } from './theatre.ts'

const MINUTE = 60_000

/** Of a play, in minutes. */
export interface Lengths {
  readonly seed: number
  readonly minutes: number
  readonly calm: number
}

/**
 * Plays a bad day: so many minutes in which everything goes wrong at random from the seed, then calm ones, then an orderly
 * end.
 */
export async function play(theatre: Theatre, { seed, minutes, calm }: Lengths): Promise<void> {
  const { clock, sandbox, curtain } = theatre
  const mortality = { isOver: () => isOver }
  let isOver = false
  // Old copies are what a history suffers from most.
  sandbox.setFaults('all:0.01,stale:0.1', seed)
  const actors = [
    playStart(theatre, seed * 10 + 1, mortality),
    playCrontab(theatre, seed * 10 + 2, mortality, ['* * * * *', 'territories']),
    playCrontab(theatre, seed * 10 + 3, mortality, ['* * * * *', 'online-players']),
    playCrontab(theatre, seed * 10 + 4, mortality, ['*/2 * * * *', 'guilds']),
    playBackfill(theatre, seed * 10 + 5, mortality, 'players'),
  ]
  const began = clock.now()
  const moments = misfortunesOf(minutes, seed)
    .flatMap((one): { at: number; strikes: boolean; misfortune: Misfortune }[] => [
      { at: one.from, strikes: true, misfortune: one },
      { at: one.until, strikes: false, misfortune: one },
    ])
    .sort((a, b) => a.at - b.at || Number(b.strikes) - Number(a.strikes))
  for (const { at, strikes, misfortune } of moments) {
    await letPass(clock, began + at - clock.now())
    await (strikes ? theatre.strike(misfortune) : theatre.mend(misfortune))
  }
  await letPass(clock, began + minutes * MINUTE - clock.now())
  sandbox.setFaults(null)
  isOver = true
  await letPass(clock, calm * MINUTE)
  curtain.abort(new Error('the play is over'))
  await Promise.all(actors)
}
