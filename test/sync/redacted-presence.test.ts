import { expect, test } from 'vitest'
import { addRedacted, revealRedacted } from '../../src/api/schemas/people/redacted.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { prepare } from '../../src/sync/normalize/prepare.ts'
import { playerId } from '../support/guild-answers.ts'

/** The body as the archive has it once something was removed from it. */
function redacted(body: object): unknown {
  addRedacted(body, {})
  return revealRedacted(body)
}

const board = () => ({ 1: { uuid: playerId(1), name: 'One', score: 5 } })
const profile = () => ({ uuid: playerId(1), username: 'One' })

test.each([
  ['a profile', players, profile(), redacted(profile())],
  ['a board', leaderboards, { type: 'x', body: board() }, { type: 'x', body: redacted(board()) }],
] as const)('what was removed from %s in the archive is not counted as lacking', (_what, resource, sent, archived) => {
  expect(prepare(resource, [sent]).presence).not.toEqual([])
  expect(prepare(resource, [archived]).presence).toEqual([])
})
