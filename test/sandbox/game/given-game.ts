import { createGame } from '../../../src/sandbox/game/game.ts'
import { gameSource } from '../../../src/sandbox/game/routes.ts'
import type { Dialect } from '../../../src/sandbox/http/answer.ts'

export const start = Date.parse('2026-06-01T12:00:20.500Z')
export const hour = 3_600_000

/** A game and its routes without HTTP; `ask` answers as of an instant (ms). */
export function givenGame(options: { seed?: number; guilds?: number; players?: number; dialect?: Dialect } = {}) {
  const { dialect = 'live', seed = 1, ...settings } = options
  const game = createGame({ seed, startedAt: start, ...settings })
  const source = gameSource(game, dialect, 600)
  function copy(path: string, at: number) {
    const [plain = '', query = ''] = path.split('?')
    const found = source.answer({ method: 'GET', path: plain, query: new URLSearchParams(query) }, at)
    if ('error' in found) throw new Error(`${path} was refused: ${found.detail}`)
    return found
  }
  /** The parsed answer. */
  function ask<Body>(path: string, at: number): Body {
    const body: Body = JSON.parse(Buffer.from(copy(path, at).plain()).toString())
    return body
  }
  return { game, copy, ask, source }
}
