import { abilityTrees } from '../../src/resources/ability-trees/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { quests } from '../../src/resources/quests/index.ts'
import { recipes } from '../../src/resources/recipes/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, syncGuild } from './guild-answers.ts'
import { hostile, liveSevenHours } from './report-world.ts'
import { headersOf, instantOf, item, type World } from './world.ts'

/**
 * The seven hours of the report's world and some more: a patch of everything that a patch can change, wars of members, what places
 * produce and store, a place without an owner. Territories were not observed from 18:00 to 21:00.
 */
export async function liveWholeWorld(world: World): Promise<void> {
  await liveSevenHours(world)
  await livePatch(world)
  await liveEconomy(world)
  const profile = { name: hostile.guild, prefix: hostile.prefix }
  const owner = { rank: 'owner', username: hostile.player, contributed: 150 }
  const members = (own: number, other: number) => ({
    1: { ...owner, globalData: { wars: own } },
    2: { rank: 'chief', globalData: { wars: other } },
    3: { restrictions: { mainAccess: true } },
    4: { joined: '10:40' },
  })
  await syncGuild(world, guildBody('a', members(10, 4), profile), '20:00')
  await syncGuild(world, guildBody('a', members(13, 4), profile), '21:00')
}

/** Items come, change in several ways and go within six hours of the first change; so does all else. */
async function livePatch(world: World): Promise<void> {
  const bow = item('bow', { displayName: hostile.item, identifications: { rawStrength: 6 } })
  const axe = (damage: number) => item('axe', { averageDps: damage })
  await world.sync(items, [bow, axe(9), item('ring')], '12:00')
  await world.sync(items, [bow, axe(7)], '13:00')
  // What is missing counts a second time when half a cache window has passed by this machine's clock too.
  await world.clock.advanceTo(instantOf('17:40'))
  await world.sync(items, [bow, axe(7)], '14:00')
  await world.sync(items, [bow, item('cap'), axe(5)], '15:00')
  const recipe = (xp: number, skill: string) => ({ internalName: 'Bow-1-3', type: 'bow', skill, xp })
  await world.sync(recipes, [recipe(5, 'woodworking')], '10:00')
  await world.sync(recipes, [recipe(5, 'weaponsmithing')], '11:00')
  await world.sync(quests, { quests: 100 }, '10:00')
  await world.sync(quests, { quests: 102 }, '11:00')
  for (const [at, cooldown] of [
    ['10:00', 12],
    ['11:00', 8],
  ] as const) {
    const headers = headersOf(instantOf(at), 60)
    const ability = {
      name: `<b>${hostile.item}</b>`,
      page: 1,
      slot: 1,
      description: [`&7Cooldown: \ue01f <b>${cooldown}</b> s`],
    }
    const tree = { archetypes: {}, pages: { 1: { bolt: ability } } }
    world.sandbox.setAnswer('/classes', () => ({ headers, body: { mage: { name: 'Mage', overallDifficulty: 1 } } }))
    world.sandbox.setAnswer('/ability/tree/mage', () => ({ headers, body: tree }))
    world.sandbox.setAnswer('/ability/map/mage', () => ({ headers, body: {} }))
    await world.syncNow(abilityTrees)
  }
}

async function liveEconomy(world: World): Promise<void> {
  const ofA = (acquired: string, fields: object) =>
    place('a', acquired, { guild: { uuid: guildId('a'), name: hostile.guild, prefix: hostile.prefix }, ...fields })
  const resources = (stored: number) => [
    { type: 'EMERALD', generation: 9000, baseGeneration: 9000, stored, limit: 3000 },
    { type: 'ORE', generation: 0, baseGeneration: 3600, stored: 0, limit: 300 },
  ]
  const at = { location: { start: [0, 0], end: [90, 60] } }
  const others = { Fir: place(null, null, { location: { start: [200, 0], end: [290, 60] } }) }
  const oak = (stored: number, treasury: string) =>
    place('b', '11:30', { ...at, resources: resources(stored), treasury, defences: 'VERY_LOW' })
  const far = ofA('11:40', { location: { start: [0, 100], end: [90, 160] } })
  const elm = (acquired: string) => ({ location: { start: [100, 0], end: [190, 60] }, acquired })
  const map = (stored: number, treasury: string) => ({
    ...others,
    Oak: oak(stored, treasury),
    [hostile.territory]: far,
    Elm: ofA('16:30', elm('2026-06-01T16:30:00.000000Z')),
  })
  await world.sync(territories, map(600, 'VERY_LOW'), '18:00')
  await world.sync(territories, map(1500, 'LOW'), '21:00')
}
