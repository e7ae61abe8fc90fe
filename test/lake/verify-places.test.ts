import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import { readManifest } from '../../src/lake/backup/manifest.ts'
import { openStore } from '../../src/lake/store.ts'
import { runInside } from '../support/cli-inside.ts'
import { readIndex, serve } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { item } from '../support/world.ts'

interface Check {
  readonly check: string
  readonly wrong: number
  readonly examples: readonly { readonly file?: string; readonly problem?: string }[]
}

describe('verify of what lies beside the database', () => {
  let environment: Record<string, string>
  const places = { lake: '', backup: '' }
  beforeAll(async () => {
    environment = { DATABASE_URL: await testDatabaseUrl() }
    const recordings = await recordingFolder([
      { at: '10:00', path: '/item/database?fullResult', body: [item('Ash'), item('Elm')] },
    ])
    expect((await runInside(['backfill', 'items', '--from', recordings], environment)).code).toBe(0)
    for (const [kind, args] of [
      ['lake', ['lake', 'export']],
      ['backup', ['backup']],
    ] as const) {
      places[kind] = join(await temporaryFolder(), kind)
      const { code, err } = await runInside([...args, places[kind]], environment)
      expect([kind, code, code === 0 ? '' : err]).toEqual([kind, 0, ''])
    }
  })

  /** The exit code, and of the checks of places what is wrong. */
  async function found(args: string[], other: Record<string, string> = {}) {
    const { code, out, err } = await runInside(['verify', ...args, '--json'], { ...environment, ...other })
    if (out === '') return [code, err]
    const { checks } = JSON.parse(out) as { checks: Check[] }
    const ofPlaces = checks.filter(({ check }) => /^(lake|backup) /.test(check))
    return [code, ofPlaces.map(({ check, wrong, examples }) => [check, wrong, examples[0]?.file, examples[0]?.problem])]
  }

  /** What is found while one bit of a file is another. */
  async function flipped(kind: keyof typeof places, file: string, part: number) {
    const path = join(places[kind], file)
    const before = await readFile(path)
    const bytes = Buffer.from(before)
    const at = Math.floor(bytes.length * part)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    await writeFile(path, bytes)
    return await found([`--${kind}`, places[kind]]).finally(() => writeFile(path, before))
  }

  const one = async (kind: keyof typeof places, ending: string) =>
    (await readdir(places[kind], { recursive: true })).filter((path) => path.endsWith(ending)).sort()[0] ?? ''

  test('finds nothing where all is right, also of the lake that is configured, and says where there is none', async () => {
    const right = (kind: string, list: string) => [
      [`${kind} ${list}`, 0, undefined, undefined],
      [`${kind} file`, 0, undefined, undefined],
    ]
    expect(await found(['--lake', places.lake, '--backup', places.backup])).toEqual([
      0,
      [...right('lake', 'index'), ...right('backup', 'list')],
    ])
    expect(await found([], { WYNNSYNC_LAKE: places.lake })).toEqual([0, right('lake', 'index')])
    expect(await found([])).toEqual([0, []])
    const nowhere = join(await temporaryFolder(), 'nothing')
    expect(await found([], { WYNNSYNC_LAKE: nowhere })).toEqual([0, []])
    expect(await found(['--lake', nowhere])).toEqual([2, expect.stringContaining('there is no folder')])
    expect(await found(['--backup', nowhere])).toEqual([2, expect.stringContaining('there is no backup in')])
  })

  test('names the file of a lake or backup in which one bit is another', async () => {
    for (const [kind, ending, list] of [
      ['lake', '.parquet', 'index'],
      ['backup', '.copy.gz', 'list'],
    ] as const) {
      const file = await one(kind, ending)
      for (const part of [0, 0.5, 0.99])
        expect([kind, await flipped(kind, file, part)]).toEqual([
          kind,
          [
            3,
            [
              [`${kind} ${list}`, 0, undefined, undefined],
              [`${kind} file`, 1, file, 'its SHA-256 is not the one that is listed'],
            ],
          ],
        ])
    }
  })

  test('names an index or list in which one bit is another', async () => {
    const index = await one('lake', '/index.json')
    for (const [kind, file, list] of [
      ['lake', 'index.json', 'index'],
      ['lake', index, 'index'],
      ['backup', 'backup.json', 'list'],
    ] as const) {
      const [code, checks] = await flipped(kind, file, 0)
      expect([code, checks]).toEqual([
        3,
        [
          [`${kind} ${list}`, 1, file, expect.stringMatching(/is no index of a lake|no JSON|not that of a backup/)],
          [`${kind} file`, 0, undefined, undefined],
        ],
      ])
    }
    // Anywhere else in what it says of files, one of the two indexes differs from the other.
    const [code, checks] = await flipped('lake', index, 0.7)
    expect([code, checks]).toEqual([
      3,
      [
        ['lake index', 1, index, expect.any(String)],
        ['lake file', 0, undefined, undefined],
      ],
    ])
  })

  test('refuses an index and a list in which one digit is another, and reads those of earlier versions', async () => {
    const read: Record<keyof typeof places, (folder: string) => Promise<unknown>> = {
      lake: readIndex,
      backup: async (folder) => await readManifest(await openStore(folder)),
    }
    for (const [kind, file] of [
      ['lake', 'index.json'],
      ['backup', 'backup.json'],
    ] as const) {
      const folder = await temporaryFolder()
      const text = await readFile(join(places[kind], file), 'utf8')
      const readWith = async (other: string) => {
        await writeFile(join(folder, file), other)
        return await read[kind](folder)
      }
      const believed: string[] = []
      for (const [nth, { index }] of [...text.matchAll(/\d/g)].entries()) {
        if (nth % 5 > 0) continue
        const other = String.fromCharCode(text.charCodeAt(index) ^ 1)
        // The name of the hash itself.
        if (text.slice(index - 6, index + 6).includes('"sha256"')) continue
        const flip = await readWith(text.slice(0, index) + other + text.slice(index + 1)).catch(() => undefined)
        if (flip !== undefined) believed.push(text.slice(index - 30, index + 10))
      }
      expect([kind, believed]).toEqual([kind, []])
      const { sha256, ...plain } = JSON.parse(text) as Record<string, unknown>
      expect(sha256).toMatch(/^[0-9a-f]{64}$/)
      expect(await readWith(JSON.stringify(plain))).toBeDefined()
    }
  })

  test('reads a lake on a web server, too', async () => {
    const index = await one('lake', '/index.json')
    const broken = join(await temporaryFolder(), 'lake')
    await cp(places.lake, broken, { recursive: true })
    await rm(join(broken, index))
    for (const [folder, code, problem] of [
      [places.lake, 0, undefined],
      [broken, 3, 'its request was answered with status 404'],
    ] as const)
      expect(await found(['--lake', await serve(join(folder, '..'))])).toEqual([
        code,
        [
          ['lake index', problem ? 1 : 0, problem && index, problem],
          ['lake file', 0, undefined, undefined],
        ],
      ])
  })

  test('makes a backup of a database with a run whose id is no uuid of a known version', async () => {
    const other = await testDatabaseUrl()
    expect((await runInside(['migrate'], { DATABASE_URL: other })).code).toBe(0)
    const sql = await openServer(other)
    await sql.query(
      `insert into sync.run (run_id, resource, program, observed_at, started_at, finished_at, status)
       values ('0c0ffee0-0000-0000-0000-00000000000f', 'items', 'test', now(), now(), now(), 'ok')`,
    )
    await sql.close()
    const place = join(await temporaryFolder(), 'backup')
    for (const args of [
      ['backup', place],
      ['backup', place],
      ['verify', '--backup', place],
      ['runs', 'list', '--json'],
    ]) {
      const { code, err } = await runInside(args, { DATABASE_URL: other })
      expect([args, code, code === 0 ? '' : err]).toEqual([args, 0, ''])
    }
  })

  test('names a file that is missing', async () => {
    const file = await one('lake', '.parquet')
    const bytes = await readFile(join(places.lake, file))
    await rm(join(places.lake, file))
    const [code, checks] = await found(['--lake', places.lake])
    await writeFile(join(places.lake, file), bytes)
    expect([code, checks]).toEqual([
      3,
      [
        ['lake index', 0, undefined, undefined],
        ['lake file', 1, file, 'it is missing'],
      ],
    ])
  })

  test('says what it found in the database where the bucket of the lake is away', async () => {
    const access = {
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1',
    }
    const { code, out, err } = await runInside(['verify', '--lake', 's3://bucket/lake'], { ...environment, ...access })
    expect([code, out]).toEqual([75, ''])
    expect(err).toMatch(/\d+ checks of \d+ tables in .*: nothing is wrong/)
    expect(err).toContain('bucket bucket: connect ECONNREFUSED')
  })
})
