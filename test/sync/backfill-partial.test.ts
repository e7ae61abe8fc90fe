import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openRecordedResponses } from '../../src/api/recordings/recorded.ts'
import { systemClock } from '../../src/base/clock.ts'
import { resourcesNamed } from '../../src/resources/index.ts'
import { loadRecorded } from '../../src/sync/backfill/backfill-recorded.ts'
import { guildId } from '../support/guild-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { recordedFolder } from '../support/recorded.ts'
import { type Line, partOfFolder, recordingFolder } from '../support/recording-folder.ts'
import { type World, worldOf } from '../support/world.ts'

async function load({ db }: World, folder: string) {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25 }
  const loading = { db, clock: systemClock, program: 'test', guards, log }
  return await loadRecorded(openRecordedResponses(folder), loading, { resources: resourcesNamed([]) })
}

const aspect = (name: string, ofClass: string) => ({ internalName: name, name, requiredClass: ofClass, rarity: 'Rare' })
const aspects = (at: string, ofClass: string, ...names: string[]): Line => ({
  at,
  path: `/aspects/${ofClass}`,
  body: Object.fromEntries(names.map((name) => [name, aspect(name, ofClass)])),
})
const entry = (letter: string) => ({ uuid: guildId(letter), prefix: letter.repeat(3) })
const byName = (at: string, ...letters: string[]): Line => ({
  at,
  path: '/guild/list/guild',
  body: Object.fromEntries(letters.map((letter) => [`Guild ${letter}`, entry(letter)])),
})
const byUuid = (at: string, ...letters: string[]): Line => ({
  at,
  path: '/guild/list/guild?identifier=uuid',
  body: Object.fromEntries(
    letters.map((letter) => [guildId(letter), { name: `Guild ${letter}`, prefix: letter.repeat(3) }]),
  ),
})

const current = (table: string, key: string) =>
  `select ${key}, valid_from from game.${table} where valid_until = 'infinity' order by 1`

describe.each(kindsAtNight)('recordings of which not all was recorded, on the %s database', (kind) => {
  const world = worldOf(kind)

  test('load what is asked for each key of a list, without the list, and end nothing', async () => {
    const lines = [
      aspects('10:00', 'mage', 'a', 'b'),
      aspects('10:05', 'archer', 'c'),
      ...['11:00', '12:00', '13:00'].map((at) => aspects(at, 'mage', 'a', 'd')),
    ]
    const { broken, unknown, resources } = await load(world, await recordingFolder(lines))
    expect([broken, [...unknown]]).toEqual([[], []])
    expect(resources).toMatchObject([{ resource: 'aspects', answers: 5, quarantined: 0, rejected: 0, stale: 0 }])
    expect(await world.rows(current('aspect', 'internal_name'))).toEqual([
      ['a', '10:00'],
      ['b', '10:00'],
      ['c', '10:05'],
      ['d', '11:00'],
    ])
  })

  test('change nothing where something newer is known than what they are put together of', async () => {
    await load(world, await recordingFolder([aspects('11:00', 'archer', 'c'), aspects('11:00', 'mage', 'b')]))
    const older = await load(
      world,
      await recordingFolder([aspects('10:00', 'mage', 'a'), aspects('12:00', 'archer', 'c')]),
    )
    expect(older.resources).toMatchObject([{ answers: 2, inserted: 0, changed: 0 }])
    expect(await world.rows(current('aspect', 'internal_name'))).toEqual([
      ['b', '11:00'],
      ['c', '11:00'],
    ])
  })

  test('load half of what is asked for a key with its other half alone', async () => {
    const tree = { at: '10:00', path: '/ability/tree/mage', body: {} }
    const { resources, unknown } = await load(world, await recordingFolder([tree]))
    expect(resources).toEqual([])
    expect([...unknown.keys()]).toEqual([expect.stringContaining('GET /ability/tree/mage (half of ability-trees')])
  })

  test('load the list of guilds in either form; only the one by uuid lists all', async () => {
    const lines = [
      byName('08:00', 'a', 'b'),
      byUuid('09:00', 'a', 'b', 'c'),
      byName('09:00', 'a'),
      ...['10:00', '11:00', '12:00'].map((at) => byName(at, 'a', 'b', 'd')),
    ]
    const { broken, unknown, resources } = await load(world, await recordingFolder(lines))
    expect([broken, [...unknown]]).toEqual([[], []])
    expect(resources).toMatchObject([{ resource: 'guild-list', answers: 5, quarantined: 0, rejected: 0, closed: 0 }])
    expect(await world.rows(current('guild_listing', 'name'))).toEqual([
      ['Guild a', '08:00'],
      ['Guild b', '08:00'],
      ['Guild c', '09:00'],
      ['Guild d', '10:00'],
    ])
  })
})

const folder = recordedFolder('recordings')

describe.skipIf(folder === undefined)('the recorded answers that are lists of keys or of guilds', () => {
  const world = worldOf('server')

  test('are all loaded, without one in quarantine', { timeout: 600_000 }, async () => {
    const all = readFileSync(join(folder ?? '', 'index.jsonl'), 'utf8')
      .trim()
      .split('\n')
    const lines = all
      .map((line): { path: string; body: string } => JSON.parse(line))
      .filter(({ path }) => /^\/(ability|aspects|guild\/list\/guild)/.test(path))
    expect(lines.length).toBeGreaterThan(25)
    const { broken, unknown, resources } = await load(world, await partOfFolder(folder ?? '', lines))
    expect([broken, [...unknown]]).toEqual([[], []])
    const clean = { quarantined: 0, rejected: 0, stale: 0, closed: 0 }
    expect(resources.toSorted((a, b) => a.resource.localeCompare(b.resource))).toMatchObject([
      { resource: 'ability-trees', ...clean },
      { resource: 'aspects', ...clean },
      { resource: 'guild-list', quarantined: 0, rejected: 0 },
    ])
    expect(await world.rows('select count(distinct class) from game.ability')).toEqual([[5]])
    expect(await world.rows('select count(distinct required_class) from game.aspect')).toEqual([[5]])
  })
})
