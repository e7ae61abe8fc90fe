import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'
import { type GuildBody, membersOf } from './bodies.ts'
import { givenGame, start } from './given-game.ts'

type Profile = Record<string, unknown> & { restrictions: Record<string, boolean>; characters?: Record<string, unknown> }

describe('what players hide', () => {
  it('is absent from their profile, with the rule in camelCase', () => {
    const { game, ask } = givenGame()
    const people = [...game.realm.players.values()].slice(1, 2000)
    const mainGroups = ['globalData', 'featuredStats', 'firstJoin', 'playtime', 'ranking', 'previousRanking']
    for (const hides of [true, false]) {
      const player = people.find(({ hidesMain, hidesOnline }) => hidesMain === hides && !hidesOnline)
      const profile = ask<Profile>(`/player/${player?.uuid}`, start)
      expect(profile.restrictions.mainAccess).toBe(hides)
      expect(mainGroups.filter((name) => name in profile)).toEqual(hides ? [] : mainGroups)
      expect('characters' in profile).toBe(false)
    }
    const hidden = people.find(({ hidesOnline, session }) => hidesOnline && session)
    const profile = ask<Profile>(`/player/${hidden?.uuid}`, start)
    expect([profile.online, profile.server, profile.restrictions.onlineStatus]).toEqual([false, null, true])
  })

  it('is absent from their member record, with the rule in snake_case', () => {
    const { game, ask } = givenGame()
    const [guild] = game.realm.guilds.values()
    const members = membersOf(ask<GuildBody>(`/guild/uuid/${guild?.uuid}`, start))
    for (const { member } of members) {
      expect(Object.keys(member.restrictions)).toEqual(['online_status', 'main_access', 'guild_high_ranked_access'])
      expect('globalData' in member).toBe(!member.restrictions.main_access)
    }
    expect(members.some(({ member }) => member.restrictions.main_access)).toBe(true)
    const hiding = members.filter(({ member }) => member.restrictions.online_status)
    expect(hiding.length).toBeGreaterThan(0)
    for (const { member } of hiding) expect([member.online, member.server]).toEqual([false, null])
  })

  it('covers characters: the list is refused, the flag adds nothing, numbers are left out', async () => {
    const { game, ask, source } = givenGame()
    const people = [...game.realm.players.values()].slice(1)
    const hider = people.find(({ hidesCharacterList }) => hidesCharacterList)
    expect('characters' in ask<Profile>(`/player/${hider?.uuid}?fullResult`, start)).toBe(false)
    const path = `/player/${hider?.uuid}/characters`
    expect(source.answer({ method: 'GET', path, query: new URLSearchParams() }, start)).toMatchObject({
      status: 403,
      error: 'Forbidden',
    })
    const open = people.find((one) => !one.hidesCharacterList && !one.hidesCharacterNumbers && !one.hidesBuild)
    const full = ask<Profile>(`/player/${open?.uuid}?fullResult`, start).characters ?? {}
    const light = ask<Record<string, unknown>>(`/player/${open?.uuid}/characters`, start)
    expect(Object.keys(full)).toEqual(Object.keys(light))
    const [uuid = ''] = Object.keys(light)
    expect(Object.keys(light[uuid] ?? {})).not.toContain('professions')
    expect(ask(`/player/${open?.uuid}/characters/${uuid}`, start)).toEqual(full[uuid])
    expect(full[uuid]).toMatchObject({ skillPoints: {}, quests: expect.any(Array), removedStat: expect.any(Array) })
    const numberless = people.find((one) => !one.hidesCharacterList && one.hidesCharacterNumbers)
    const [short] = Object.values(ask<Profile>(`/player/${numberless?.uuid}?fullResult`, start).characters ?? {})
    expect(short).not.toHaveProperty('mobsKilled')
  })
})

describe('the two dialects', () => {
  it('differ in spelling as the plan says', () => {
    const [live, documented] = [givenGame(), givenGame({ dialect: 'documented' })] as const
    const [guild] = live.game.realm.guilds.values()
    const season = (given: typeof live) => Object.values(given.ask<Record<string, object>>('/guild/seasons', start))[0]
    expect(season(live)).toHaveProperty('startDate')
    expect(season(documented)).toHaveProperty('initDate')
    expect(live.copy('/guild/list/territory', start).headers).toHaveProperty('TerritoryLastTick')
    expect(documented.copy('/guild/list/territory', start).headers).toEqual({})
    const listed = (given: typeof live) => given.ask<Record<string, object>>('/guild/list/guild', start)
    expect(Object.keys(listed(live)[guild?.name ?? ''] ?? {})).toEqual(['uuid', 'prefix'])
    expect(Object.keys(listed(documented)[guild?.name ?? ''] ?? {})).toEqual(['name', 'prefix'])
    const store = (given: typeof live) =>
      Object.values(given.ask<Record<string, { resources: object[] }>>('/guild/list/territory', start))[0]?.resources[0]
    expect(store(live)).toHaveProperty('baseGeneration')
    expect(store(documented)).not.toHaveProperty('baseGeneration')
    const layers = (given: typeof live) =>
      [...given.game.realm.guilds.keys()].flatMap(
        (uuid) => given.ask<GuildBody>(`/guild/uuid/${uuid}`, start).banner?.layers ?? [],
      )
    expect(layers(live)[0]).toHaveProperty('colour')
    expect(layers(documented)[0]).toHaveProperty('color')
  })

  it('differ in private profiles: 200 with groups absent, or 403', async () => {
    const { get: live, sandbox } = await given()
    const { get: documented } = await given({ dialect: 'documented' })
    const [hidden] = sandbox.history().privacy.filter(({ rule }) => rule === 'mainAccess')
    expect((await live(`/player/${hidden?.player}`)).status).toBe(200)
    expect((await documented(`/player/${hidden?.player}`)).status).toBe(403)
  })

  it('play the same game', () => {
    const told = (['live', 'documented'] as const).map((dialect) => {
      const { game, ask } = givenGame({ dialect, players: 300, guilds: 60 })
      ask('/player', start + 600_000)
      return game.history(0, start + 600_000)
    })
    expect(told[0]).toEqual(told[1])
  })
})

describe('oddities of guild profiles', () => {
  it('occur: wars and banners that are null, empty ranks, prefixes that are null, names with spaces at the ends', () => {
    const { game, ask } = givenGame({ guilds: 1500 })
    const guilds = [...game.realm.guilds.values()]
    const profiles = guilds.slice(0, 150).map(({ uuid }) => ask<GuildBody>(`/guild/uuid/${uuid}`, start))
    expect(profiles.some(({ wars }) => wars === null)).toBe(true)
    expect(profiles.some(({ banner }) => banner === null)).toBe(true)
    expect(profiles.some(({ members }) => JSON.stringify(members.captain) === '{}')).toBe(true)
    expect(profiles.some(({ name }) => name === '')).toBe(true)
    expect(profiles.some(({ prefix }) => prefix === null)).toBe(true)
    expect(guilds.some(({ name }) => name !== name.trim())).toBe(true)
    const folded = guilds.map(({ name }) => name.toLowerCase())
    expect(new Set(folded).size).toBeLessThan(guilds.length)
  })

  it('include moments in which every member shows no guild raid', () => {
    const { game, ask } = givenGame()
    game.advanceTo(start + 72 * 3_600_000)
    const [told] = game.history(start, start + 72 * 3_600_000).glitches
    if (!told) throw new Error('three days without a glitch')
    const again = givenGame()
    const totals = (at: number) =>
      membersOf(again.ask<GuildBody>(`/guild/uuid/${told.guild}`, at)).map(
        ({ member }) => member.globalData?.guildRaids.total ?? 0,
      )
    expect(Math.max(...totals(Date.parse(told.from) - 130_000))).toBeGreaterThan(0)
    expect(Math.max(...totals(Date.parse(told.from) + 1000))).toBe(0)
    expect(Math.max(...totals(Date.parse(told.until) + 130_000))).toBeGreaterThan(0)
    expect(ask<GuildBody>(`/guild/uuid/${told.guild}`, start + 72 * 3_600_000).uuid).toBe(told.guild)
  })
})
