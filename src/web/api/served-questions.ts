import type { Clock } from '../../base/clock.ts'
import { isAsked } from '../../questions/catalogue.ts'
import { type Question, readQuestions } from '../../questions/questions.ts'
import { Problem } from '../http/problems.ts'
import { isAboutPlayers } from '../people.ts'
import type { Reader } from '../reading.ts'

export interface Served {
  questions(): Promise<readonly Question[]>
  /** @throws Problem when there is none of this name, or it is about players and they are left out */
  question(name: string): Promise<Question>
}

/** How long the catalogue of the database is kept, ms: another version may replace the views. */
const KEPT = 60_000

/**
 * The questions of the catalogue. What they are made of is left out.
 * @param people whether questions about single players are answered
 */
export function servedQuestions(reader: Reader, clock: Clock, people: boolean): Served {
  let kept: { readonly until: number; readonly all: Promise<readonly Question[]> } | undefined
  const read = async () => (await reader.read(readQuestions)).filter(isAsked)
  const all = () => {
    if (!kept || clock.now() >= kept.until) {
      kept = { until: clock.now() + KEPT, all: read() }
      kept.all.catch(() => {
        kept = undefined
      })
    }
    return kept.all
  }
  return {
    questions: async () => (await all()).filter((one) => people || !isAboutPlayers(one)),
    question: async (name) => {
      const found = (await all()).find((one) => one.name === name)
      if (!found)
        throw new Problem('unknown-question', { detail: 'openapi.json lists all', questions: '/openapi.json' })
      if (!people && isAboutPlayers(found))
        throw new Problem('people-not-shown', { detail: 'started with --no-people' })
      return found
    },
  }
}
