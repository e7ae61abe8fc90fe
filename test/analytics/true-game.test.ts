import { beforeAll, describe } from 'vitest'
import { effort } from '../support/effort.ts'
import { testDatabase } from '../support/postgres.ts'
import { questionsOfCoverage } from './true-game/coverage.ts'
import { questionsOfTheMap } from './true-game/map.ts'
import { questionsOfMembers } from './true-game/members.ts'
import { questionsOfWorlds } from './true-game/online.ts'
import { type Played, play } from './true-game/play.ts'

const hours = Math.max(3, effort.gameHours)
/** A few hours are taken from where much happens at once: a season ends, guilds come and go, items are patched. */
const skipped = hours > 24 ? 0 : 39.5

describe(`of ${hours} hours of the simulated game, each question has the answer of the true history`, () => {
  let played: Played

  beforeAll(async () => {
    played = await play(await testDatabase('server'), 10, hours, skipped)
  }, 3_600_000)

  questionsOfTheMap(() => played)
  questionsOfMembers(() => played)
  questionsOfWorlds(() => played)
  questionsOfCoverage(() => played)
})
