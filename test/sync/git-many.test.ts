import { expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { detectResponses } from '../../src/sync/backfill/git-detect.ts'
import { openGitSource } from '../../src/sync/backfill/git-source.ts'
import { gitRepository } from '../support/git-repository.ts'
import { instantOf, item } from '../support/world.ts'

/** More than a call of a function can have as arguments. */
const MANY = 130_000
const now = instantOf('10:00')
const body = (name: string) => JSON.stringify({ [name]: item(name, {}), [`${name} 2`]: item(`${name} 2`, {}) })

test('a repository has any number of files that cannot be read', async () => {
  const files = Object.fromEntries(Array.from({ length: MANY }, (_, nth) => [`items/${nth}.json`, '{']))
  const repository = await gitRepository([{ at: now, files }])
  const source = await openGitSource(undefined, repository, [{ glob: 'items/*.json', resource: items }], now)
  source.close()
  expect([source.broken.length, source.lines]).toEqual([MANY, []])
})

test('a repository has any number of commits with a version of a file that was removed', async () => {
  const [gone, other] = [body('Axe'), body('Bow')]
  const commits = Array.from({ length: MANY }, (_, nth) => ({
    at: now + nth,
    files: { 'a.json': gone, 'b.json': `${other}${nth % 2 === 0 ? ' ' : ''}` },
  }))
  commits.push({ at: now + MANY, files: { 'a.json': null, 'b.json': null, 'c.json': body('Cap') } } as never)
  const { detected } = await detectResponses(await gitRepository(commits), resources)
  expect(detected.map(({ glob }) => glob)).toEqual(['{a,b,c}.json'])
})
