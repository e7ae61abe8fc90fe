import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runInside } from '../support/cli-inside.ts'
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
    expect(await found(['--lake', nowhere])).toEqual([2, expect.stringContaining('no lake was exported into it')])
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
              [`${kind} file`, 1, file, 'its SHA-256 is not that of the index'],
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
