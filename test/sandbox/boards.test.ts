import { describe, expect, it } from 'vitest'
import type { GuildBody, OnlineBody } from './game/bodies.ts'
import { given } from './given.ts'
import { givenLogin } from './oauth/given-login.ts'

const options = { game: { guilds: 90, players: 300 }, limits: { guest: 10_000, token: 10_000 } }

interface Entry {
  readonly uuid: string
  readonly name: string
  readonly score?: number
  readonly metaScore?: number
  readonly territories?: number
  readonly restricted?: boolean
}
type Board = Readonly<Record<string, Entry>>

describe('the leaderboards', () => {
  it('are all those that are listed, each in order from position 1', async () => {
    const { get } = await given(options)
    const types = (await get<string[]>('/leaderboards/types')).body
    expect(types).toEqual(expect.arrayContaining(['guildLevel', 'guildTerritories', 'guildWars', 'totalGlobalLevel']))
    expect(types.some((type) => /^guildSeason\d+$/.test(type))).toBe(true)
    for (const type of types) {
      const { body, headers } = await get<Board>(`/leaderboards/${type}`)
      expect(headers.get('ratelimit-bucket')).toBe('LEADERBOARDS')
      const entries = Object.values(body)
      expect(Object.keys(body)).toEqual(entries.map((_, nth) => String(nth + 1)))
      expect(entries.length).toBeGreaterThan(0)
      expect(entries.length).toBeLessThanOrEqual(100)
      const scores = entries.flatMap(({ score }) => score ?? [])
      expect(scores).toEqual([...scores].sort((one, other) => other - one))
    }
  })

  it('agree with the profiles they were computed from', async () => {
    const { get } = await given(options)
    const { body } = await get<Board>('/leaderboards/guildTerritories?resultLimit=5')
    expect(Object.keys(body)).toHaveLength(5)
    for (const { uuid, territories } of Object.values(body))
      expect((await get<GuildBody>(`/guild/uuid/${uuid}`)).body.territories).toBe(territories)
  })

  it('do not name who hides, but keep their place', async () => {
    const { get } = await given(options)
    const entries = Object.values((await get<Board>('/leaderboards/playerContent?resultLimit=1000')).body)
    const hidden = entries.filter(({ restricted }) => restricted)
    expect(hidden.length).toBeGreaterThan(3)
    for (const one of hidden) {
      expect([one.uuid, one.name]).toEqual(['redacted', 'redacted'])
      expect(one).not.toHaveProperty('rank')
    }
    expect(entries.some(({ restricted, uuid }) => !restricted && uuid !== 'redacted')).toBe(true)
  })

  it.each([
    '/leaderboards/shoeSize',
    '/leaderboards/guildLevel?resultLimit=x',
    '/leaderboards/guildLevel?resultLimit=5000',
  ])('refuse %s', async (path) => {
    const { get } = await given(options)
    const { status, body } = await get(path)
    expect([status, body.error]).toEqual([400, 'InvalidQueryParamsError'])
  })
})

describe('the search', () => {
  it('finds whatever contains the text, and leaves out kinds without a match', async () => {
    const { get } = await given(options)
    const { body, headers } = await get<Record<string, object>>('/search/mo')
    expect(headers.get('cache-control')).toBe('max-age=600')
    expect(body.query).toBe('mo')
    expect(Object.keys(body)).toEqual(
      expect.arrayContaining(['players', 'guilds', 'items', 'territories', 'discoveries']),
    )
    for (const name of Object.values(body.players ?? {})) expect(String(name).toLowerCase()).toContain('mo')
    expect(Object.keys(body.players ?? {}).length).toBeLessThanOrEqual(20)
    expect((await get('/search/xqzzxq')).body).toEqual({ query: 'xqzzxq' })
  })

  it('looks for the kinds that are asked for only', async () => {
    const { get } = await given(options)
    expect(Object.keys((await get('/search/mo?only=player')).body)).toEqual(['query', 'players'])
    expect(Object.keys((await get('/search/mo?only=territory,item')).body)).toEqual(['query', 'territories', 'items'])
    expect((await get('/search/mo?only=shoes')).status).toBe(400)
    const guilds = (await get<Record<string, { prefix: string }>>('/guild/list/guild')).body
    const prefix = Object.values(guilds).find((one) => one.prefix)?.prefix ?? ''
    const found = (await get<{ guildsPrefix: object }>(`/search/${prefix}?only=guild`)).body
    expect(Object.values(found.guildsPrefix)).toContainEqual(expect.objectContaining({ prefix }))
  })
})

describe('the places of players', () => {
  it('are told to the player, with those who show themselves, and to nobody else', async () => {
    const { as, control, get, clock } = await givenLogin(options)
    await clock.advance(8 * 3_600_000)
    const online = Object.keys((await get<OnlineBody>('/player?identifier=uuid')).body.players)
    let mates = 0
    for (const player of online.slice(0, 30)) {
      const token = (await control('POST', { player })).body.token ?? ''
      const { body, headers } = await as<Location[]>(token, '/map/locations/player')
      expect([headers.get('cache-source'), headers.get('cache-control')]).toEqual(['USER', 'max-age=15'])
      expect(body.map(({ uuid }) => uuid)).toEqual([player])
      for (const one of [...(body[0]?.friends ?? []), ...(body[0]?.guild ?? [])]) expect(one.uuid).not.toBe(player)
      mates += body[0]?.guild.length ?? 0
    }
    expect(mates).toBeGreaterThan(0)
    expect((await get('/map/locations/player')).body).toEqual([])
  })

  it('are refused to guests by the documented interface', async () => {
    const { get } = await given({ ...options, dialect: 'documented' })
    expect((await get('/map/locations/player')).status).toBe(403)
  })
})

interface Location {
  readonly uuid: string
  readonly friends: readonly { readonly uuid: string }[]
  readonly guild: readonly { readonly uuid: string }[]
}
