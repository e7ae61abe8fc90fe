import { describe, expect, test } from 'vitest'
import { guildBody, guildId, type MemberFields, openMember, playerId, syncGuild } from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { worldOf } from '../support/world.ts'

const twoDigits = (day: number) => String(day).padStart(2, '0')

describe('a rule that responses stop naming', () => {
  const world = worldOf('server')
  const rules = () => world.rows('select field_group, is_pending from sync.privacy_restriction order by 1')
  const claims = () =>
    world.rows(`select kind, subject, value, times from sync.claim where starts_with(kind, 'lifted')`)
  const online = () =>
    world.rows(`select online from game.member_presence where player_uuid = '${playerId(1)}' order by observed_at`)
  const owner = { 2: { rank: 'owner', ...openMember } }
  const hidden = { online: false, restrictions: { ...openMember.restrictions, online_status: true } }
  const others = { main_access: false, guild_high_ranked_access: false }
  const sync = (member: MemberFields, at: string) => syncGuild(world, guildBody('a', { ...owner, 1: member }), at)

  async function restrict() {
    for (const at of ['01 10:00', '01 10:10']) await sync(hidden, at)
    expect(await rules()).toEqual([['onlineStatus', false]])
  }

  test.each([
    ['is missing among the others', others],
    ['is null', { ...others, online_status: null }],
    ['is missing where no other is named either', {}],
    ['is missing in a list of the rules that hide', []],
  ])('hides for a week and is none any more after it, where it %s, for a month', async (_how, restrictions) => {
    await restrict()
    for (let day = 2; day <= 30; day++) {
      await sync({ online: true, server: 'EU1', restrictions }, `${twoDigits(day)} 08:00`)
      expect([day, await rules()]).toEqual([day, day < 9 ? [['onlineStatus', false]] : []])
    }
    expect(await claims()).toEqual([])
    const shown = (await online()).flat()
    expect(shown.filter((one) => one === true)).not.toEqual([])
    expect(shown.slice(0, shown.indexOf(true)).every((one) => one === null)).toBe(true)
  })

  test('hides on where one response in the week restricts it', async () => {
    await restrict()
    for (let day = 2; day <= 28; day++)
      await sync(day % 6 === 0 ? hidden : { restrictions: others }, `${twoDigits(day)} 08:00`)
    expect(await rules()).toEqual([['onlineStatus', false]])
  })

  test.each([undefined, null, 'Private'])(
    'hides on for a month where the restrictions as a whole are %j',
    async (restrictions) => {
      await restrict()
      for (let day = 2; day <= 30; day++) await sync({ online: true, restrictions }, `${twoDigits(day)} 08:00`)
      expect(await rules()).toContainEqual(['onlineStatus', false])
      expect((await online()).flat()).not.toContain(true)
    },
  )

  test('hides on where the guild does not have the member any more', async () => {
    await restrict()
    for (let day = 2; day <= 30; day++) await syncGuild(world, guildBody('a', owner), `${twoDigits(day)} 08:00`)
    expect(await world.rows('select field_group, told_by from sync.privacy_restriction')).toEqual([
      ['onlineStatus', `guilds/${guildId('a')}`],
    ])
  })

  test('is none at once where a person accepts the response', async () => {
    await restrict()
    await syncGuild(world, guildBody('a', { ...owner, 1: { restrictions: others } }), '02 08:00', { accept: true })
    expect(await rules()).toEqual([])
  })

  test('hides on where a profile shows no characters, whose records name it', async () => {
    const character = { type: 'MAGE', level: 5, restrictions: { characterBuildAccess: true } }
    const restrictions = { mainAccess: false }
    for (const at of ['01 10:00', '01 10:10'])
      await syncPlayer(world, 1, profile(1, { characters: { [guildId('c')]: character }, restrictions }), at)
    expect(await rules()).toEqual([['characterBuildAccess', false]])
    for (let day = 2; day <= 20; day++)
      await syncPlayer(world, 1, profile(1, { restrictions }), `${twoDigits(day)} 08:00`)
    expect(await rules()).toEqual([['characterBuildAccess', false]])
    const open = { ...character, restrictions: {} }
    for (let day = 21; day <= 29; day++)
      await syncPlayer(
        world,
        1,
        profile(1, { characters: { [guildId('c')]: open }, restrictions }),
        `${twoDigits(day)} 08:00`,
      )
    expect(await rules()).toEqual([])
  })
})
