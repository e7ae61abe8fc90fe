import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { openRecordedResponses } from '../../src/api/recordings/recorded.ts'
import { readGzippedBody } from '../../src/api/schemas/recordings/recording-index.ts'
import { openRecordings } from '../../src/sandbox/index.ts'
import { given } from '../sandbox/given.ts'
import { buildProgram, runProgram } from '../support/cli.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { item } from '../support/world.ts'

/** A valid body outside of the folder; whoever reads it has left the folder. */
const outsideItems = [item('Ash'), item('Secret')]
const begin = Date.parse('2026-06-01T11:00:00Z')

/** A folder with one good line and one per way out of it or beyond the limits, in the order of `problems`. */
async function hostileFolder(): Promise<string> {
  const folder = await recordingFolder([{ at: '10:00', path: '/item/database?fullResult', body: [item('Ash')] }])
  const elsewhere = await temporaryFolder()
  await mkdir(join(elsewhere, 'deep'))
  const secret = join(elsewhere, 'deep', 'secret.json.gz')
  await writeFile(secret, gzipSync(JSON.stringify(outsideItems)))
  await symlink(secret, join(folder, 'bodies', 'link.json.gz'))
  await symlink(join(elsewhere, 'deep'), join(folder, 'linked'))
  execFileSync('mkfifo', [join(folder, 'bodies', 'pipe.json.gz')])
  // 65 MB of spaces are 64 kB of gzip.
  await writeFile(join(folder, 'bodies', 'bomb.json.gz'), gzipSync(Buffer.alloc(65 * 1024 * 1024, ' ')))
  const bodies = [
    `../${elsewhere.split('/').at(-1)}/deep/secret.json.gz`,
    secret,
    'bodies/link.json.gz',
    'linked/secret.json.gz',
    'bodies/pipe.json.gz',
    'bodies/bomb.json.gz',
  ]
  const lines = bodies.map((body, nth) => {
    const at = new Date(begin + nth * 3_600_000).toISOString()
    return JSON.stringify({ at, method: 'GET', path: '/item/database', query: 'fullResult', status: 200, body })
  })
  await appendFile(join(folder, 'index.jsonl'), `${lines.join('\n')}\n`)
  return folder
}

const leaves = 'is outside of the folder of recordings'
const problems = [leaves, leaves, leaves, leaves, 'is not a file', 'unpacks to more than 64 MB']

describe('a folder of recordings that somebody else made', () => {
  beforeAll(buildProgram, 120_000)

  test('is never left, and never unpacked beyond the limit: the good lines load, the others are named', async () => {
    const folder = await hostileFolder()
    const DATABASE_URL = await testDatabaseUrl()
    const { code, out } = await runProgram(['backfill', 'items', '--from', folder, '--json'], { DATABASE_URL })
    const { resources, broken } = JSON.parse(out) as { resources: { answers: number }[]; broken: string[] }
    expect([code, broken.length]).toEqual([3, problems.length])
    for (const [nth, problem] of problems.entries())
      expect(broken[nth]).toContain(`(index.jsonl line ${nth + 2}) ${problem}`)
    expect(resources).toMatchObject([{ resource: 'items', inserted: 1, changed: 0 }])
    const query = await runProgram(['query', 'item', '--json'], { DATABASE_URL })
    expect(query.out).not.toContain('Secret')
  })

  test('is served by the sandbox no differently', async () => {
    const folder = await hostileFolder()
    const { get, clock } = await given({ recordings: folder, at: begin - 1000 })
    const seen: string[] = []
    for (const [nth] of problems.entries()) {
      await clock.advanceTo(begin + nth * 3_600_000)
      const { status, body } = await get<{ detail?: string }>('/item/database?fullResult')
      seen.push(`${status} ${body.detail}`)
    }
    for (const [nth, problem] of problems.slice(0, 5).entries())
      expect(seen[nth]).toMatch(new RegExp(`^500 .*index.jsonl line ${nth + 2}\\) ${problem}`))
  })

  test('may not have its index elsewhere either', async () => {
    const folder = await hostileFolder()
    const other = await temporaryFolder()
    await symlink(join(folder, 'index.jsonl'), join(other, 'index.jsonl'))
    for (const open of [openRecordedResponses, openRecordings]) expect(() => open(other)).toThrow(leaves)
  })

  test('may itself be reached through a symbolic link, and name files below folders that begin with dots', async () => {
    const folder = await recordingFolder([{ at: '10:00', path: '/item/sets', body: {} }])
    const link = join(await temporaryFolder(), 'link')
    await symlink(folder, link)
    await writeFile(join(folder, '..json.gz'), gzipSync('{}'))
    expect(readGzippedBody(link, { body: 'bodies/1.json.gz', line: 1 }).length).toBeGreaterThan(0)
    expect(readGzippedBody(link, { body: './..json.gz', line: 2 }).length).toBeGreaterThan(0)
  })
})
