import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/base/clock.ts'
import { givenGame, hour, start } from './given-game.ts'

const end = start + 72 * hour

describe('the true history', () => {
  it('is the same whether the game is looked at once, every ten seconds or at random instants', () => {
    const once = givenGame().game
    once.advanceTo(end)
    const whole = JSON.stringify(once.history(0, end))

    const often = givenGame()
    for (let at = start; at <= end; at += 10_000) often.copy('/guild/list/territory', at)
    often.game.advanceTo(end)
    expect(JSON.stringify(often.game.history(0, end))).toBe(whole)

    const randomly = givenGame()
    const random = seededRandom(7)
    for (let at = start; at < end; at += Math.floor(random() * 2 * hour)) {
      randomly.ask('/player', at)
      randomly.ask('/guild/list/guild', at)
      randomly.ask(`/player/${[...randomly.game.realm.players.keys()][5]}?fullResult`, at)
    }
    randomly.game.advanceTo(end)
    expect(JSON.stringify(randomly.game.history(0, end))).toBe(whole)
  })

  it('is another one for another seed', () => {
    const [one, other] = [1, 2].map((seed) => {
      const { game } = givenGame({ seed, players: 200, guilds: 60 })
      game.advanceTo(start + hour)
      return game.history(0, start + hour).captures
    })
    expect(one).not.toEqual(other)
  })

  it('has several thousand captures and sessions in three days, about half of the captures by the holder itself', () => {
    const { game } = givenGame()
    game.advanceTo(end)
    const history = game.history(start, end)
    expect(history.captures.length).toBeGreaterThan(2500)
    expect(history.sessions.length).toBeGreaterThan(5000)
    const again = history.captures.filter(({ from, to }) => from === to).length / history.captures.length
    expect(again).toBeGreaterThan(0.4)
    expect(again).toBeLessThan(0.6)
    expect(history.captures.some(({ to }) => to === null)).toBe(true)
    for (const event of ['renamed', 'retired', 'new']) expect(history.map.map((one) => one.event)).toContain(event)
    for (const event of ['joined', 'left', 'promoted', 'demoted', 'transferred'])
      expect(history.memberships.map((one) => one.event)).toContain(event)
    for (const event of ['founded', 'renamed', 'retagged', 'disbanded'])
      expect(history.guilds.map((one) => one.event)).toContain(event)
    expect(history.seasons.map((one) => one.event)).toEqual(['ended', 'began'])
    for (const list of [history.hops, history.worlds, history.playerRenames, history.privacy, history.glitches])
      expect(list.length).toBeGreaterThan(0)
  })

  it('refounds a disbanded guild under the same name with another uuid sooner or later', () => {
    const { game } = givenGame({ players: 600, guilds: 120 })
    game.advanceTo(start + 12 * 24 * hour)
    const { guilds } = game.history(0, start + 12 * 24 * hour)
    const again = guilds.find(({ event }) => event === 'refounded')
    const former = guilds.find(({ event, guild }) => event === 'disbanded' && guild === again?.former)
    expect(again?.name).toBe(former?.name)
    expect(again?.guild).not.toBe(former?.guild)
  })

  it('is told for a part of the time: events in it, and what lasts into it', () => {
    const { game } = givenGame({ players: 400, guilds: 60 })
    game.advanceTo(start + 10 * hour)
    const [from, to] = [start + 4 * hour, start + 5 * hour]
    const part = game.history(from, to)
    const whole = game.history(0, start + 10 * hour)
    expect(part.captures).toEqual(whole.captures.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) < to))
    expect(part.sessions).toEqual(
      whole.sessions.filter(
        ({ login, logout }) => Date.parse(login) < to && (logout === null || Date.parse(logout) > from),
      ),
    )
    expect(part.captures.length).toBeGreaterThan(0)
  })

  it('is in time order', () => {
    const { game } = givenGame()
    game.advanceTo(start + 24 * hour)
    const history = game.history(0, start + 24 * hour)
    const lists = [
      history.captures.map(({ at }) => at),
      history.sessions.map(({ login }) => login),
      history.hops.map(({ at }) => at),
      history.memberships.map(({ at }) => at),
      history.worlds.map(({ at }) => at),
      history.privacy.map(({ at }) => at),
    ]
    for (const instants of lists) expect(instants).toEqual([...instants].sort())
  })
})
