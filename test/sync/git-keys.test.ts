import { describe, expect, test } from 'vitest'
import { commits, load } from '../support/git-loading.ts'
import { guildBody, guildId } from '../support/guild-answers.ts'
import { worldOf } from '../support/world.ts'

const withoutUuid = ({ uuid: _, ...guild }: Record<string, unknown>) => guild
const owls = (level: number) => guildBody('a', { 1: { rank: 'owner' } }, { level }) as Record<string, unknown>
const history = {
  // As the API sent it in 2023.
  '10:00': { 'guilds/Owls.json': withoutUuid(owls(4)) },
  '11:00': { 'guilds/Owls.json': owls(5), 'guilds/index.json': { updated: 5 }, 'guilds/Bats.json': '<html>' },
  '12:00': { 'guilds/Owls.json': { error: 'NotFound', detail: 'x', code: 404 } },
  '13:00': { 'guilds/Owls.json': owls(6) },
}

describe('a file of a git history that is mapped to guilds', () => {
  const world = worldOf('server')

  test('is named where no guild is in it, and its name is no key of the worklist', async () => {
    const { broken, resources } = await load(world, await commits(history), 'guilds/*.json=guilds')
    expect(broken.map((line) => line.replace(/ of commit [0-9a-f]{10}/, ''))).toEqual([
      'guilds: guilds/Owls.json is no response that can be read',
      'guilds: guilds/index.json is no response that can be read',
      'guilds: guilds/Owls.json is no response that can be read',
      expect.stringMatching(/^guilds: guilds\/Bats.json is not JSON/),
    ])
    expect(resources).toMatchObject([{ resource: 'guilds', answers: 2, quarantined: 0, rejected: 0 }])
    expect(await world.rows('select resource, key from sync.work_item')).toEqual([['guilds', guildId('a')]])
    expect(await world.rows('select level from game.guild_sample order by observed_at')).toEqual([[5], [6]])
  })
})
