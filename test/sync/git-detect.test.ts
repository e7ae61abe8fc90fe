import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import { detectResponses } from '../../src/sync/backfill/git-detect.ts'
import {
  at,
  board,
  detect,
  expanded,
  guild,
  part,
  player,
  repository,
  textsOf,
  uuid,
} from '../support/git-detecting.ts'
import { gitRepository } from '../support/git-repository.ts'
import { temporaryFolder } from '../support/postgres.ts'
import { instantOf } from '../support/world.ts'

describe('files of a git history', () => {
  test('that many commits changed are named where the API sends nothing like them', async () => {
    const commits = [1, 2, 3, 4, 5].map((nth) => ({ 'state.json': { left: nth } }))
    const { notSent } = await detect({ 'tsconfig.json': { strict: true } }, ...commits)
    expect(notSent).toEqual([{ what: 'JSON in no form that the API sends', paths: ['state.json'] }])
  })

  test('that are boards are boards where their folder says so, and nothing else', async () => {
    const boards = {
      'leaderboards/combatSoloLevel.json': board((nth) => player(nth, { score: nth })),
      'leaderboards/guildLevel.json': board((nth) => guild(nth, { level: 5 })),
    }
    expect((await detect(boards)).mapped).toEqual(['leaderboards/*.json=leaderboards'])
  })

  test('that are parts of a response make one map with braces, without their twins', async () => {
    const files = {
      gear: part('weapon', 'Ash', 'Oak', 'Elm'),
      tomes: part('tome', 'Ode', 'Lay'),
      charms: part('charm', 'Ring'),
      ingredients: part('ingredient', 'Salt', 'Herb'),
    }
    const commits = Object.entries(files).map(([name, body]) => ({
      [`Reference/${name}.json`]: body,
      [`Reference/${name}_expanded.json`]: expanded(body),
    }))
    const { mapped, others, leftOut, detected } = await detect(...commits, {
      'Reference/urls.json': [{ id: 'a', url: 'https://example.org' }],
      'Data/gear_missing.json': part('weapon', 'Ash'),
      'old/a,{b}.json': part('weapon', 'Ash', 'Oak'),
    })
    expect(mapped).toEqual(['Reference/{charms,gear,ingredients,tomes}.json=items'])
    expect(others).toEqual(['Data/gear_missing.json=items', String.raw`old/a\,\{b\}.json=items`])
    expect(leftOut.map(({ path, sameAs }) => `${path} ${sameAs}`).sort()).toEqual(
      Object.keys(files)
        .sort()
        .map((name) => `Reference/${name}_expanded.json Reference/${name}.json`),
    )
    expect(detected.find((one) => one.mapped)).toMatchObject({ files: 4, commits: 4, records: 8, expected: 6600 })
  })

  test('are one where the file with all records is beside its copies', async () => {
    const all = { ...part('weapon', 'Ash', 'Oak', 'Elm'), ...part('tome', 'Ode', 'Lay') }
    const { mapped, leftOut } = await detect(
      { 'items.json': all, 'weapons.json': part('weapon', 'Ash', 'Oak', 'Elm'), 'items.pretty.json': expanded(all) },
      { 'items.json': { ...all, ...part('charm', 'Ring') } },
    )
    expect(mapped).toEqual(['items.json=items'])
    expect(leftOut.map(({ path }) => path).sort()).toEqual(['items.pretty.json', 'weapons.json'])
  })

  test('of other days beside each other are all mapped, however many', async () => {
    const names = (nth: number) => ['Ash', 'Oak', 'Elm', `New ${nth}`]
    const days = (count: number) =>
      Array.from({ length: count }, (_, nth) => ({ [`days/${2000 + nth}.json`]: part('weapon', ...names(nth)) }))
    expect((await detect(...days(3))).mapped).toEqual(['days/{2000,2001,2002}.json=items'])
    const { mapped, detected } = await detect(...days(45))
    expect([mapped, detected[0]?.files]).toEqual([['days/*.json=items'], 45])
  })

  test('with a date in their names are one series, in one folder or each in its own, however many', async () => {
    const state = (nth: number) => part('weapon', 'Ash', 'Oak', 'Elm', `New ${nth}`)
    const series = (pathOf: (day: string) => string) =>
      detect(
        Object.fromEntries(
          Array.from({ length: 400 }, (_, nth) => {
            const day = new Date(instantOf('10:00') + 86_400_000 * nth).toISOString()
            return [pathOf(day), state(nth)]
          }),
        ),
      )
    const found = async (pathOf: (day: string) => string) => {
      const { mapped, detected, leftOut } = await series(pathOf)
      return [mapped, detected.map(({ files }) => files), leftOut]
    }
    expect(await found((day) => `items [${day.slice(0, 10)}].json`)).toEqual([
      [String.raw`items \[????-??-??\].json=items`],
      [400],
      [],
    ])
    expect(await found((day) => `v3/${day.slice(0, 10).replaceAll('-', '/')}/items.json`)).toEqual([
      ['v3/????/??/??/items.json=items'],
      [400],
      [],
    ])
    expect(await found((day) => `items_${Date.parse(day)}.json`)).toEqual([
      ['items_?????????????.json=items'],
      [400],
      [],
    ])
    expect(await found((day) => `${day.slice(0, 7)}/items_${Date.parse(day) / 1000}.json`)).toEqual([
      ['????-??/items_??????????.json=items'],
      [400],
      [],
    ])
    const guilds = (day: number, nth: number) => [
      `2026-05-1${day}/guilds/${uuid(nth)}.json`,
      { ...guild(nth), members: {} },
    ]
    const ofGuilds = [1, 2, 3].flatMap((day) => Array.from({ length: 50 }, (_, nth) => guilds(day, nth)))
    const { mapped, detected } = await detect(Object.fromEntries(ofGuilds))
    expect([mapped, detected.map(({ files, records }) => [files, records])]).toEqual([
      ['????-??-??/guilds/*.json=guilds'],
      [[150, 50]],
    ])
  })

  test('are looked into where an envelope is around responses, but not for what was added or removed', async () => {
    const items = part('weapon', 'Ash', 'Oak')
    const recipes = [{ internalName: 'a', type: 'bow', skill: 'woodworking', materials: [] }]
    expect((await detect({ 'cache.json': { at: 5, recipes, items, used: part('weapon', 'Ash') } })).mapped).toEqual([
      'cache.json=items',
      'cache.json=recipes',
    ])
    const one = { ...guild(1), members: { total: 0 } }
    expect((await detect({ 'guild.json': { timestamp: 5, data: one } })).mapped).toEqual(['*.json=guilds'])
    expect(
      (await detect({ 'changes.json': { added: items, removed: items, modified: [{ before: items }] } })).detected,
    ).toEqual([])
  })

  test('are states of one where only numbers in their paths differ, and each came with another commit', async () => {
    const versions = ['2.0', '2.1', '2.10'].map((version, nth) => ({
      [`v${version}/items.json`]: part('weapon', 'Ash', 'Oak', 'Elm', `New ${nth}`),
    }))
    expect((await detect(...versions)).mapped).toEqual(
      ['v2.0', 'v2.1', 'v2.10'].map((name) => `${name}/items.json=items`),
    )
  })

  test('of all keys in one are found, as a map or a list, with a time beside each or not', async () => {
    const guilds = Array.from({ length: 30 }, (_, nth) => ({ ...guild(nth), members: { total: 0 } }))
    const { mapped, detected } = await detect({
      'a/by-name.json': { updated: 5, guilds: Object.fromEntries(guilds.map((one) => [one.name, one])) },
      'b/list.json': guilds,
      'c/pairs.json': guilds.map((one) => [5, one]),
      'd/others.json': [...guilds.slice(0, 10), ...Array.from({ length: 20 }, (_, nth) => guild(nth))],
    })
    expect(mapped).toEqual(['a/by-name.json=guilds', 'b/list.json=guilds', 'c/pairs.json=guilds'])
    expect(detected.map(({ files, records }) => [files, records])).toEqual([
      [1, 30],
      [1, 30],
      [1, 30],
    ])
  })

  test('of a key each are one series where each has its own folder, but for folders with something else', async () => {
    const folders = (file: string) =>
      Array.from({ length: 60 }, (_, nth) => [`guilds/G ${nth}/${file}`, { ...guild(nth), members: { total: 0 } }])
    const days = [...folders('2026-05-01.json'), ...folders('2026-05-02.json')]
    const { mapped, detected } = await detect(Object.fromEntries([...days, ['guilds/G 1/notes.json', [1]]]))
    expect([mapped, detected[0]?.files, detected[0]?.records]).toEqual([['guilds/*/????-??-??.json=guilds'], 120, 60])
    const others = Object.fromEntries([...folders('guild.json').slice(0, 3), ['guilds/x/guild.json', [1]]])
    expect((await detect(others)).mapped).toEqual([0, 1, 2].map((nth) => `guilds/G ${nth}/*.json=guilds`))
  })

  test('of a key each leave out what is beside them', async () => {
    const guilds = Object.fromEntries(
      Array.from({ length: 45 }, (_, nth) => [`guilds/${uuid(nth)}.json`, { ...guild(nth), members: { total: 0 } }]),
    )
    expect((await detect(guilds)).mapped).toEqual(['guilds/*.json=guilds'])
    const { mapped, detected } = await detect({ ...guilds, 'guilds/index.json': { all: [1, 2] } })
    expect([mapped, detected[0]?.records]).toEqual([['guilds/????????-????-????-????-????????????.json=guilds'], 45])
    const named = { 'a/B.json': { ...guild(1), members: {} }, 'a/C.json': { ...guild(2), members: {} }, 'a/x.json': [] }
    expect((await detect(named)).mapped).toEqual(['a/{B,C}.json=guilds'])
  })

  test('are read a few of each folder and each once, in a history of 2,000 commits', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 300 }, (_, nth) => [`guilds/${uuid(nth)}.json`, { ...guild(nth), members: { total: 0 } }]),
    )
    const commits = Array.from({ length: 2000 }, (_, nth) => ({
      'map.json': { Oak: { guild: null, acquired: null, location: { start: [nth, 0] } } },
    }))
    const place = await repository(many, ...commits)
    const steps: (readonly [what: string, done: number, of: number | null])[] = []
    const began = performance.now()
    const { detected, notRead } = await detectResponses(place, resources, (...step) => void steps.push(step))
    expect(performance.now() - began).toBeLessThan(10_000)
    expect(detected.map(({ glob, commits: count }) => [glob, count])).toEqual([
      ['guilds/*.json', 1],
      ['map.json', 2000],
    ])
    expect([steps.at(-1), notRead]).toEqual([['files', 13, 13], 0])
    expect(steps.filter(([what]) => what === 'commits').at(-1)).toEqual(['commits', 2001, 2001])
  })

  test('are found where they were before they were renamed, split or moved, and where the latest version is an error page', async () => {
    const all = { ...part('weapon', 'Ash', 'Oak', 'Elm'), ...part('tome', 'Ode', 'Lay') }
    const types = { 'api/gear.json': part('weapon', 'Ash', 'Oak', 'Elm'), 'api/tomes.json': part('tome', 'Ode', 'Lay') }
    const place = await gitRepository([
      { at: at(0), files: { 'a.json': JSON.stringify(all), 'copy.json': JSON.stringify(all) } },
      {
        at: at(1),
        files: { 'a.json': null, 'data/b.json': JSON.stringify(all), 'copy.json': JSON.stringify(all, null, 2) },
      },
      { at: at(2), files: { 'data/b.json': null, 'copy.json': null, ...textsOf(types) } },
      { at: at(3), files: { 'api/gear.json': '<html><body>502</body></html>' } },
    ])
    const { detected, leftOut } = await detectResponses(place, resources)
    const mapped = detected.filter((one) => one.mapped).map(({ glob }) => glob)
    expect(mapped).toEqual(['a.json', 'api/{gear,tomes}.json', 'data/b.json'])
    expect(
      [...detected.filter((one) => !one.mapped).map(({ glob }) => glob), ...leftOut.map(({ path }) => path)].sort(),
    ).toEqual(['copy.json'])
  })

  test('are found where each line is a record or a response, and in lists of responses with times', async () => {
    const lines = (all: readonly unknown[]) => all.map((one) => JSON.stringify(one)).join('\n')
    const items = part('weapon', 'Ash', 'Oak')
    const map = (name: string) => ({ [name]: { guild: guild(1), acquired: '2026-05-01T09:00:00Z' } })
    const timed = ['2026-05-01T09:00:00Z', '2026-05-01T10:00:00Z'].map((time, nth) => ({
      time,
      data: map(`Oak ${nth}`),
    }))
    const files = {
      'items.jsonl': lines(Object.values(items)),
      'map/2026-05-01.ndjson.gz': gzipSync(lines(timed)),
      'map/2026-05-02.ndjson.gz': gzipSync(lines(timed.slice(1))),
      'log.jsonl': lines([{ level: 'info', time: '2026-05-01T09:00:00Z', data: { a: 1 } }]),
    }
    const place = await gitRepository([{ at: at(0), files }])
    const { detected, unreadable } = await detectResponses(place, resources)
    expect(detected.map(({ glob, resource }) => `${glob}=${resource}`)).toEqual([
      'items.jsonl=items',
      'map/????-??-??.ndjson.gz=territories',
    ])
    expect(unreadable).toEqual([])
  })

  test('that hold no JSON are named, and packed files and UTF-16 are read', async () => {
    const map = JSON.stringify({ Oak: { guild: null, acquired: null, location: { start: [1, 0] } } })
    const items = JSON.stringify(part('weapon', 'Ash', 'Oak'))
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n'
    const place = await gitRepository([
      {
        at: at(0),
        files: {
          'map.json': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(map, 'utf16le')]),
          'items.json.gz': gzipSync(items),
          'lfs.json': pointer,
          'gateway.json': '<html>',
          'cut.json': items.slice(0, 20),
          'none.json': '',
        },
      },
    ])
    const { detected, unreadable } = await detectResponses(place, resources)
    expect(detected.map(({ glob, resource }) => `${glob}=${resource}`)).toEqual([
      'items.json.gz=items',
      'map.json=territories',
    ])
    expect(unreadable.map(({ path, reason }) => `${path}: ${reason}`).sort()).toEqual([
      'cut.json: not JSON, or JSON that ended early',
      'gateway.json: a page of HTML',
      'lfs.json: a pointer of Git LFS: its content is in no commit',
      'none.json: empty',
    ])
  })

  test('are looked for in what HEAD names, which must be there', async () => {
    const place = await repository({ 'map.json': { Oak: { guild: null, acquired: null } } })
    const git = (...args: string[]) => execFileSync('git', ['-C', place, ...args])
    git('config', 'uploadpack.allowFilter', 'true')
    const [partial, shallow] = [join(await temporaryFolder(), 'partial'), join(await temporaryFolder(), 'shallow')]
    git('clone', '--quiet', '--no-checkout', '--filter=blob:none', `file://${place}`, partial)
    git('clone', '--quiet', '--depth=1', `file://${place}`, shallow)
    await expect(detectResponses(partial, resources)).rejects.toThrow(/partial clone without its files/)
    expect((await detectResponses(shallow, resources)).remarks).toEqual([
      expect.stringMatching(/^the clone is shallow/),
    ])
    git('symbolic-ref', 'HEAD', 'refs/heads/gone')
    await expect(detectResponses(place, resources)).rejects.toThrow(
      /HEAD names no commit, and the branches are main; choose one/,
    )
  })
})
