import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openRecordedResponses, recordedResponses } from '../../src/api/recordings/recorded.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { resources, resourcesNamed } from '../../src/resources/index.ts'
import { loadRecorded } from '../../src/sync/backfill/backfill-recorded.ts'
import { openGitSource } from '../../src/sync/backfill/git-source.ts'
import { isWorklist } from '../../src/sync/declare/resource.ts'
import { gameDigests } from '../support/backfill.ts'
import { effort } from '../support/effort.ts'
import { gitRepository } from '../support/git-repository.ts'
import { syncGuilds } from '../support/guild-answers.ts'
import { testDatabase } from '../support/postgres.ts'
import { recordedFolder } from '../support/recorded.ts'
import { partOfFolder } from '../support/recording-folder.ts'
import { openWorld } from '../support/world.ts'

interface Line {
  readonly at: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: string
}

/** Which resource asks for what, as its own tests know it. */
const askedBy: Readonly<Record<string, string>> = {
  '/item/database?fullResult': 'items',
  '/item/recipe/database?full_result': 'recipes',
  '/item/sets?': 'item-sets',
  '/item/metadata?': 'item-metadata',
  '/item/metadata?static': 'item-metadata',
  '/guild/list/territory?': 'territories',
  '/guild/list/guild?identifier=uuid': 'guild-list',
  '/player?identifier=uuid': 'online-players',
}

function linesOf(folder: string): Line[] {
  return readFileSync(join(folder, 'index.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** What no sync requests like this, or without its list: `backfill-partial.test.ts` loads all of it. */
function isPartial({ path, query }: Line): boolean {
  return /^\/(ability|aspects)\//.test(path) || (path === '/guild/list/guild' && query === '')
}

/** All of them when they are wanted; else some of everything: of the guilds one in 60, of the items the first states. */
function chosen(all: readonly Line[]): Line[] {
  const lines = all.filter((line) => !isPartial(line))
  if (effort.everyAnswer) return [...lines]
  const count = { guilds: 0, items: 0 }
  return lines.filter(({ path }) => {
    if (path.startsWith('/guild/uuid/')) return count.guilds++ % 60 === 0
    return path !== '/item/database' || count.items++ < 2
  })
}

/** A sync at each instant at which something was recorded, over HTTP. */
async function syncAll(folder: string, db: Database): Promise<void> {
  const lines = linesOf(folder)
  const world = await openWorld(db, { recordings: folder }, Date.parse(lines[0]?.at ?? ''))
  const guard = { plausibleShare: 0.9 }
  for (const { at, method, path, query } of lines) {
    const name = method === 'GET' ? askedBy[`${path}?${query}`] : undefined
    const resource = resources.find((one) => one.name === name)
    await world.clock.advanceTo(Date.parse(at))
    if (path.startsWith('/guild/uuid/')) {
      const keys = [path.slice('/guild/uuid/'.length)]
      expect(await syncGuilds(world, { keys }, guard)).not.toHaveProperty('error')
    } else if (resource && !isWorklist(resource)) await world.syncNow(resource, guard)
  }
  await world.api.close()
  await world.sandbox.close()
}

const folder = recordedFolder('recordings')

if (folder === undefined) test.skip('the recorded answers are loaded (skipped: recorded data absent)')
else
  test('loading the recorded answers gives, row for row, what a sync of them gives', {
    timeout: 1_800_000,
  }, async () => {
    const part = await partOfFolder(folder, chosen(linesOf(folder)))
    const [synced, loaded] = [
      await testDatabase('server'),
      await testDatabase(effort.everyAnswer ? 'embedded' : 'server'),
    ]
    await syncAll(part, synced)
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
    const guards = { plausibleShare: 0.9, absences: 2, zeroShare: 0.25 }
    const loading = { db: loaded, clock: systemClock, program: 'test', guards, log }
    const recorded = openRecordedResponses(part)
    const result = await loadRecorded(recorded, loading, { resources })
    expect(result.broken).toEqual([])
    expect([...result.unknown.keys()].filter((name) => !name.includes('search'))).toEqual([])
    expect(result.resources.reduce((sum, { stale }) => sum + stale, 0)).toBe(0)
    const expected = await gameDigests(synced)
    expect(await gameDigests(loaded)).toEqual(expected)
    expect(expected['game.guild_member']).not.toMatchObject({ rows: 0 })

    const again = await loadRecorded(recorded, loading, { resources })
    const counts = again.resources.map(({ inserted, changed, closed, events }) => inserted + changed + closed + events)
    expect(counts.every((count) => count === 0)).toBe(true)
    expect(await gameDigests(loaded)).toEqual(expected)
  })

/** The files that a person might keep of the responses. */
const files: Readonly<Record<string, string>> = {
  '/item/database?fullResult': 'items.json=items',
  '/item/recipe/database?full_result': 'recipes.json=recipes',
  '/item/sets?': 'sets.json=item-sets',
  '/guild/list/territory?': 'map.json=territories',
  '/guild/list/guild?identifier=uuid': 'guilds.json=guild-list',
  '/player?identifier=uuid': 'online.json=online-players',
}

function fileOf({ method, path, query }: Line): string | undefined {
  if (method !== 'GET') return undefined
  const guild = '/guild/uuid/'
  return path.startsWith(guild)
    ? `guild/${path.slice(guild.length)}.json`
    : files[`${path}?${query}`]?.replace(/=.*/, '')
}

if (folder === undefined) test.skip('the recorded answers in git are loaded (skipped: recorded data absent)')
else
  test('a git history of the recorded answers gives, row for row, what they give as a folder', {
    timeout: 1_800_000,
  }, async () => {
    // Git keeps whole seconds, and no headers.
    const lines = chosen(linesOf(folder))
      .filter(fileOf)
      .map(({ at, method, path, query, body }) => ({ at: `${at.slice(0, 19)}Z`, method, path, query, body }))
    const commits = lines.map((line) => ({
      at: Date.parse(line.at),
      files: { [String(fileOf(line))]: gunzipSync(readFileSync(join(folder, line.body))) },
    }))
    const repository = await gitRepository(commits.sort((a, b) => a.at - b.at))
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
    const guards = { plausibleShare: 0.9, absences: 2, zeroShare: 0.25 }
    const loading = { clock: systemClock, program: 'test', guards, log }
    const [ofFolder, ofGit] = [await testDatabase('server'), await testDatabase('server')]
    const recorded = openRecordedResponses(await partOfFolder(folder, lines))
    await loadRecorded(recorded, { ...loading, db: ofFolder }, { resources })
    const mappings = [...Object.values(files), 'guild/*.json=guilds'].flatMap((map) => {
      const [glob = '', name = ''] = map.split('=')
      return resourcesNamed([name]).map((resource) => ({ glob, resource }))
    })
    const source = await openGitSource(ofGit, repository, mappings, Date.now())
    const result = await loadRecorded(recordedResponses(source), { ...loading, db: ofGit }, { resources })
    source.close()
    expect([result.broken, source.skipped]).toEqual([[], []])
    const expected = await gameDigests(ofFolder)
    expect(await gameDigests(ofGit)).toEqual(expected)
    expect(expected['game.guild_member']).not.toMatchObject({ rows: 0 })
    expect(expected['game.item']).not.toMatchObject({ rows: 0 })
  })
