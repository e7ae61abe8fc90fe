import { beforeAll, describe } from 'vitest'
import { effort } from '../support/effort.ts'
import { testDatabase } from '../support/postgres.ts'
import { questionsOfBiographies } from './true-game/biography.ts'
import { questionsOfCoverage } from './true-game/coverage.ts'
import { questionsOfHours } from './true-game/guild-hours.ts'
import { questionsOfItems } from './true-game/items.ts'
import { questionsOfTheMap } from './true-game/map.ts'
import { questionsOfMembers } from './true-game/members.ts'
import { questionsOfWorlds } from './true-game/online.ts'
import { play } from './true-game/play.ts'
import type { Played } from './true-game/played.ts'
import { questionsOfPresence } from './true-game/presence.ts'
import { questionsOfSeasons } from './true-game/season.ts'

const hours = Math.max(4, effort.gameHours)
/** A few hours are taken from where much happens at once: a season ends, guilds come and go, items are patched. */
const skipped = hours > 24 ? 0 : 37.6

describe(`of ${hours} hours of the simulated game, each question has the answer of the true history`, {
  timeout: 900_000,
}, () => {
  let played: Played

  beforeAll(async () => {
    played = await play(await testDatabase('server'), 20, hours, skipped)
  }, 3_600_000)

  questionsOfTheMap(() => played)
  questionsOfSeasons(() => played)
  questionsOfMembers(() => played)
  questionsOfHours(() => played)
  questionsOfBiographies(() => played)
  questionsOfWorlds(() => played)
  questionsOfPresence(() => played)
  questionsOfItems(() => played)
  questionsOfCoverage(() => played)
})
