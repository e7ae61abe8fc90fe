import { answerBody } from '../items.ts'
import type { Part } from '../part.ts'
import { measurePreparation } from '../preparation.ts'

const ROUNDS = 7

export const prepare: Part = async ({ say }) => {
  say(`One response with all items, median of ${ROUNDS}`, measurePreparation(answerBody(), ROUNDS))
  return []
}
