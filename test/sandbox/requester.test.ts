import { describe, expect, it } from 'vitest'
import { hiddenFrom } from '../../src/sandbox/game/people/privacy.ts'
import { type GuildBody, membersOf } from './game/bodies.ts'
import { givenGame } from './game/given-game.ts'
import { given } from './given.ts'
import { givenLogin } from './oauth/given-login.ts'

type Profile = Record<string, unknown> & { restrictions: Record<string, boolean>; characters?: Record<string, object> }
const mainGroups = ['globalData', 'featuredStats', 'firstJoin', 'playtime', 'ranking', 'previousRanking']
const limits = { guest: 10_000, token: 10_000 }

/** A sandbox, and the first player of it who hides the main profile and the online status. */
async function givenHider(dialect: 'live' | 'documented' = 'live') {
  const login = await givenLogin({ limits, dialect })
  const rules = (rule: string) =>
    new Set(
      login.sandbox
        .history()
        .privacy.filter((one) => one.rule === rule && one.restricted)
        .map(({ player }) => player),
    )
  const online = rules('onlineStatus')
  const hider = [...rules('mainAccess')].find((player) => online.has(player)) ?? ''
  const token = async (fields: object) => (await login.control('POST', fields)).body.token ?? ''
  return { ...login, hider, token }
}

describe('an answer about somebody who hides', () => {
  it('shows the owner everything, in a copy that nobody else gets', async () => {
    const { hider, token, as, get } = await givenHider()
    const own = await as<Profile>(await token({ player: hider }), `/player/${hider}`)
    const guest = await get<Profile>(`/player/${hider}`)
    expect(mainGroups.filter((name) => name in own.body)).toEqual(mainGroups)
    expect(mainGroups.filter((name) => name in guest.body)).toEqual([])
    expect([own.body.restrictions.mainAccess, guest.body.restrictions.mainAccess]).toEqual([false, true])
    expect([own.headers.get('cache-source'), guest.headers.get('cache-source')]).toEqual(['USER', 'SHARED'])
    expect(own.body.lastJoin).not.toBeUndefined()
  })

  it('shows an application only what its scopes allow', async () => {
    const { hider, token, as } = await givenHider()
    const scoped = async (scopes: string[]) =>
      (await as<Profile>(await token({ kind: 'OAUTH', player: hider, scopes }), `/player/${hider}`)).body.restrictions
    expect(await scoped(['identify', 'main_access'])).toMatchObject({ mainAccess: false, onlineStatus: true })
    expect(await scoped(['online_status'])).toMatchObject({ mainAccess: true, onlineStatus: false })
  })

  it('shows a token in Public Mode what a guest sees', async () => {
    const { hider, token, as, get } = await givenHider()
    const open = await as<Profile>(await token({ player: hider, scopes: [] }), `/player/${hider}`)
    expect(open.body).toEqual((await get<Profile>(`/player/${hider}`)).body)
  })

  it('is refused to guests by the documented interface, not to the owner', async () => {
    const { hider, token, as, get } = await givenHider('documented')
    expect((await get(`/player/${hider}`)).status).toBe(403)
    expect((await as(await token({ player: hider }), `/player/${hider}`)).status).toBe(200)
  })

  it('stays the same for its requester until it expires', async () => {
    const { hider, token, as, clock } = await givenHider()
    const mine = await token({ player: hider })
    const ask = async () => (await as(mine, `/player/${hider}?fullResult`)).text
    const first = await ask()
    await clock.advance(119_000)
    expect(await ask()).toBe(first)
  })

  it('follows the rule: friends, guild mates, both or nobody', () => {
    const { game } = givenGame()
    const players = [...game.realm.players.values()]
    const seen = new Map<string, number>()
    for (const player of players.filter(({ hidesMain, membership }) => hidesMain && membership)) {
      const mates = [...(player.membership?.guild.members.keys() ?? [])].filter((one) => one !== player)
      for (const mate of mates) {
        const hidden = hiddenFrom(player, { player: mate, scopes: undefined }).main
        seen.set(String(hidden), (seen.get(String(hidden)) ?? 0) + 1)
        expect(hiddenFrom(player, { player: mate, scopes: ['identify'] }).main).toBe(true)
      }
      expect(hiddenFrom(player, { player, scopes: undefined }).main).toBe(false)
      expect(hiddenFrom(player, undefined).main).toBe(true)
    }
    // Two of the four rules let guild mates see it.
    expect(seen.get('false')).toBeGreaterThan(10)
    expect(seen.get('true')).toBeGreaterThan(10)
  })

  it('tells a guild its weekly objectives, and only its members', async () => {
    const { token, as, get, sandbox } = await givenHider()
    const { player = '', guild = '' } = sandbox.history().memberships.at(0) ?? {}
    const path = `/guild/uuid/${guild}`
    const weekly = (body: GuildBody) => membersOf(body).map(({ member }) => Object.keys(member.weekly ?? {}).length)
    const own = await as<GuildBody>(await token({ player }), path)
    const guest = await get<GuildBody>(path)
    expect(own.headers.get('cache-source')).toBe('USER')
    expect(new Set(weekly(own.body))).toEqual(new Set([2]))
    expect(new Set(weekly(guest.body))).toEqual(new Set([0]))
    expect(own.body.members.total).toBe(guest.body.members.total)
  })
})

describe('the abilities of a character', () => {
  it('are a part of the map of the class, whole lines only, and refused when the build is hidden', async () => {
    const { get, sandbox } = await given({ game: { guilds: 90, players: 300 }, limits })
    const players = [...new Set(sandbox.history().memberships.map(({ player }) => player))].slice(0, 40)
    let refused = 0
    for (const player of players) {
      const list = await get<Record<string, { type: string }>>(`/player/${player}/characters`)
      if (list.status !== 200) continue
      const [[character = '', { type } = { type: '' }] = []] = Object.entries(list.body)
      const abilities = await get<Pages>(`/player/${player}/characters/${character}/abilities`)
      expect(abilities.headers.get('cache-control')).toBe(abilities.status === 200 ? 'max-age=600' : null)
      if (abilities.status === 403) refused++
      if (abilities.status !== 200) continue
      const map = Object.values((await get<Pages>(`/ability/map/${type.toLowerCase()}`)).body).flat()
      const nodes = Object.values(abilities.body).flat()
      const taken = new Set(nodes.flatMap(({ meta }) => meta.id ?? []))
      expect(taken.size).toBeGreaterThan(0)
      for (const node of nodes) {
        expect(map).toContainEqual(node)
        for (const id of node.family) expect(taken).toContain(id)
      }
    }
    expect(refused).toBeGreaterThan(0)
  })

  it('are asked for by a uuid that exists', async () => {
    const { get, sandbox } = await given({ game: { guilds: 90, players: 300 } })
    const player = sandbox.history().sessions[0]?.player
    const bad = await get(`/player/${player}/characters/first/abilities`)
    expect([bad.status, bad.body.error]).toEqual([400, 'InvalidCharacterUUID'])
    const unknown = await get(`/player/${player}/characters/00000000-0000-4000-8000-000000000000/abilities`)
    expect([unknown.status, unknown.body.error]).toEqual([404, 'NoCharacterFound'])
    expect((await get(`/player/${player}/characters/x/else`)).status).toBe(404)
  })
})

type Pages = Record<string, { readonly family: string[]; readonly meta: { readonly id?: string } }[]>
