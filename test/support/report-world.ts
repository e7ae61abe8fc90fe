import { parseHTML } from 'linkedom'
import { composeReport, type Wanted } from '../../src/report/report.ts'
import { aspects } from '../../src/resources/aspects/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { guildBody, guildId, place, syncGuild } from './guild-answers.ts'
import { onlineBody, syncOnline } from './player-answers.ts'
import { headersOf, instantOf, item, type World } from './world.ts'

/** Names as the API would never send them, one hopes. */
export const hostile = {
  guild: `<script>alert("guild")</script>`,
  prefix: `"'><b`,
  player: `'"><img src=x onerror=alert(1)>`,
  territory: `</script><script>alert('place')</script>`,
  item: `<svg onload=alert(1)>`,
}

const guildA = { uuid: guildId('a'), name: hostile.guild, prefix: hostile.prefix }
const at = (x: number, y: number) => ({ location: { start: [x, y], end: [x + 90, y + 60] } })
const ofA = (acquired: string, x: number, y: number) => place('a', acquired, { guild: guildA, ...at(x, y) })

/**
 * Seven hours of 1 June: two guilds, three territories, two worlds, a patch. Everything is expected once an hour; from
 * 12:00 to 17:00 no request was sent.
 */
export async function liveSevenHours(world: World): Promise<void> {
  for (const resource of ['territories', 'online-players', 'guilds', 'items']) {
    await expectEvery(world.db, { resource, everySeconds: 3600, setBy: 'sync', at: new Date(instantOf('10:00')) })
  }
  const [oak, elm, ash] = [
    [0, 0],
    [100, 0],
    [0, 100],
  ] as const
  const elmOfB = place('b', '09:00', at(...elm))
  const unheld = place(null, null, at(...ash))
  const bow = (strength: number) =>
    item('bow', { displayName: hostile.item, identifications: { rawStrength: strength } })
  const member = (contributed: number, fields: object = {}) => ({ contributed, joined: '00:00', ...fields })
  const owner = {
    rank: 'owner',
    username: hostile.player,
    online: true,
    server: 'EU1',
    lastJoin: '2026-06-01T09:00:00Z',
  }
  const inactive = member(5, { rank: 'chief', lastJoin: '2026-05-02T10:00:00Z' })
  const hidden = member(7, { restrictions: { onlineStatus: true } })
  const profile = { name: hostile.guild, prefix: hostile.prefix }

  await world.sync(territories, { Oak: ofA('08:00', ...oak), Elm: elmOfB, [hostile.territory]: unheld }, '10:00')
  await world.sync(items, [bow(4)], '10:00')
  await syncGuild(
    world,
    guildBody('a', { 1: member(100, owner), 2: inactive, 3: hidden }, { ...profile, online: 1 }),
    '10:00',
  )
  await syncOnline(world, onlineBody({ EU1: [1, 2] }, 1), '10:00')
  await world.sync(
    territories,
    { Oak: place('b', '10:30', at(...oak)), Elm: elmOfB, [hostile.territory]: unheld },
    '11:00',
  )
  await world.sync(items, [bow(6)], '11:00')
  await syncGuild(
    world,
    guildBody(
      'a',
      { 1: member(150, owner), 2: inactive, 3: hidden, 4: { joined: '10:40' } },
      { ...profile, online: 3 },
    ),
    '11:00',
  )
  await syncOnline(world, onlineBody({ EU1: [1], EU2: [2, 3] }), '11:00')
  // A world is there when two lists show it.
  await syncOnline(world, onlineBody({ EU1: [1], EU2: [2, 3] }), '11:00:40')
  const late = { Oak: place('b', '11:30', at(...oak)), [hostile.territory]: ofA('11:40', ...ash) }
  await world.sync(territories, { ...late, Elm: elmOfB }, '12:00')
  await world.sync(territories, { ...late, Elm: ofA('16:30', ...elm) }, '17:00')
  await syncOnline(world, onlineBody({ EU1: [1] }, 2), '17:00')
  await liveContent(world)
}

/** A pool that has another reward from 11:00 on, and a patch of the only class at that time. */
async function liveContent(world: World): Promise<void> {
  const coin = { name: 'Pale Coin', type: 'CURRENCY', amount: 2, always: true }
  const ring = { name: 'Old Ring', type: 'ITEM', amount: 1, always: false, tier: 'RARE' }
  const bow = { name: hostile.item, type: 'ITEM', amount: 1, always: false, tier: 'MYTHIC', shiny: true }
  const pool = (rewards: object[]) => [{ name: hostile.territory, internalName: 'vault', type: 'RAID', rewards }]
  await world.sync(lootPools, pool([coin, ring]), '10:00')
  await world.sync(lootPools, pool([coin, ring, bow]), '16:00')
  const headers = headersOf(instantOf('17:00'), 600)
  const leader = { uuid: guildId('a'), name: hostile.guild, prefix: hostile.prefix, score: 7 }
  world.sandbox.setAnswer('/leaderboards/types', () => ({ body: ['guildLevel'], headers }))
  world.sandbox.setAnswer('/leaderboards/guildLevel', () => ({ body: { 1: leader }, headers }))
  await world.syncNow(leaderboards)
  for (const [at, more] of [
    ['10:00', 5],
    ['11:00', 7],
  ] as const) {
    const description = [
      `<span class='x'>All of your spells deal</span>`,
      `<b>+${more}%</b> more damage to those who are near`,
    ]
    const tiers = { 1: { threshold: 1, description } }
    const aspect = { internalName: '0a0b0c0d', name: hostile.item, rarity: 'mythic', requiredClass: 'mage', tiers }
    world.sandbox.setAnswer('/aspects/mage', () => ({ headers: headersOf(instantOf(at), 60), body: [aspect] }))
    world.sandbox.setAnswer('/classes', () => ({
      headers: headersOf(instantOf(at), 60),
      body: { mage: { name: 'Mage', overallDifficulty: 1 } },
    }))
    await world.syncNow(aspects)
  }
}

export type Report = Awaited<ReturnType<typeof composeReport>>

/** A report of the world, written when its last answer came. */
export async function reportOf(world: World, wanted: Partial<Wanted> = {}): Promise<Report> {
  return await composeReport(world.db, { writtenAt: new Date(instantOf('17:00')), version: 'test', ...wanted })
}

/** The table of a figure as a reader sees it, headings first. */
export function tableOf({ html }: Report, figure: string): string[][] {
  const rows = parseHTML(html).document.querySelectorAll(`#${figure} tr`)
  return [...rows].map((row) => [...row.children].map((cell) => String(cell.textContent)))
}

/** The sentence over a figure. */
export function titleOf({ html }: Report, figure: string): string {
  return String(parseHTML(html).document.querySelector(`#${figure} h3`)?.textContent)
}
