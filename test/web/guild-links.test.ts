import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, syncGuild } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'

describe('a link to a guild', () => {
  const web = webWorld('server', async (world) => {
    // Two have one prefix; and one that is in no list held a place as a prefix that another one has now.
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { prefix: 'TWN' }), '10:00')
    await syncGuild(world, guildBody('b', { 2: { rank: 'owner' } }, { prefix: 'TWN' }), '10:00')
    await syncGuild(world, guildBody('c', { 3: { rank: 'owner' } }, { prefix: 'ddd' }), '10:00')
    await world.sync(territories, { Oak: place('a', '09:00'), Elm: place('d', '09:00') }, '10:10')
  })

  test.each(['/', '/guilds', '/territories'])(
    'leads on %s to the page of that guild, whoever else has its prefix',
    async (path) => {
      const { ask } = await web.served()
      const { document } = parseHTML((await ask(path)).text)
      const links = new Map(
        [...document.querySelectorAll('main a[href^="/guilds/"]')].map((one) => [
          String(one.getAttribute('title') ?? one.textContent),
          String(one.getAttribute('href')),
        ]),
      )
      expect(links.has('Guild d') || path === '/').toBe(true)
      for (const [name, href] of links) {
        const { status, text } = await ask(href)
        expect([name, href, status]).toEqual([name, href, 200])
        expect([name, String(parseHTML(text).document.querySelector('h1')?.textContent)]).toEqual([
          name,
          expect.stringContaining(name),
        ])
      }
    },
  )

  test('of its own page leads there by whatever name it was found', async () => {
    const { ask } = await web.served()
    const { document } = parseHTML((await ask('/guilds/Guild%20a')).text)
    const period = [...document.querySelectorAll('nav.period a')].map((one) => String(one.getAttribute('href')))
    expect(period.length).toBeGreaterThan(1)
    for (const href of period) expect([href, (await ask(href)).status]).toEqual([href, 200])
    const byPrefix = parseHTML((await ask('/guilds/ddd')).text).document
    expect(byPrefix.querySelector('nav.period a')?.getAttribute('href')).toMatch(/^\/guilds\/ddd\?/)
  })

  test('that was listed and never asked for has no number of members', async () => {
    await web.world.db.query(
      `insert into game.guild_listing (guild_uuid, name, prefix, valid_from, valid_until, hash)
       values ($1, 'Only listed', 'ONL', '2026-06-01Z', 'infinity', '\\x00')`,
      [guildId('e')],
    )
    const { ask } = await web.served()
    const { document } = parseHTML((await ask(`/guilds/${guildId('e')}`)).text)
    expect(document.querySelector('h1')?.textContent).toMatch(/\[ONL\]: \? members/)
    expect(document.body.textContent).toMatch(/Level \?, \? online, \? wars; \? is unknown/)
  })
})
