import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { prepareToStore, type StoredCredential, storeCredential } from '../../src/app/stored-credential.ts'
import { virtualClock } from '../../src/base/clock.ts'
import { setInEnvFile } from '../../src/base/env-file.ts'
import { UsageError } from '../../src/base/errors.ts'
import { compiledCode } from '../../src/cli/compiled-code.ts'
import { lockFolder, readHolder } from '../../src/db/embedded/folder-lock.ts'
import { openStore, withWritingFolder } from '../../src/lake/store.ts'
import { runInside } from '../support/cli-inside.ts'
import { temporaryFolder } from '../support/postgres.ts'

const clock = virtualClock(Date.UTC(2026, 0, 1))
const USER = 12_345
const isRoot = process.geteuid?.() === 0

afterEach(() => void vi.restoreAllMocks())

/** A folder of another user than the process, which is root: in tests that run as another, the folder is theirs and root is played. */
async function usersFolder(...files: readonly string[]): Promise<string> {
  const folder = await temporaryFolder()
  for (const file of files) writeFileSync(join(folder, file), 'of the user')
  if (isRoot) for (const path of [folder, ...files.map((file) => join(folder, file))]) chownSync(path, USER, USER)
  else vi.spyOn(process, 'geteuid').mockReturnValue(0)
  return folder
}

const credential: StoredCredential = {
  kind: 'token',
  baseUrl: 'http://127.0.0.1:1/v3',
  scopes: [],
  lastUsedAt: null,
  who: null,
  obtainedAt: '2026-06-01T10:00:00.000Z',
  token: () => 'wgc_of-the-tester',
}

describe('root in the place of another user', () => {
  test('opens no database there, nor in a new folder below, and leaves nothing', async () => {
    const folder = await usersFolder()
    const owner = statSync(folder).uid
    const message = new RegExp(`belongs to the user with number ${owner}.*sudo -u '#${owner}'`)
    for (const dataDir of [folder, join(folder, 'new', 'below')]) {
      await expect(lockFolder(dataDir, { clock })).rejects.toThrow(message)
      await expect(lockFolder(dataDir, { clock })).rejects.toThrow(UsageError)
      expect(await readHolder(dataDir)).toBeNull()
    }
    expect(readdirSync(folder)).toEqual([])
  })

  test('replaces neither the stored credential nor .env', async () => {
    const folder = await usersFolder('credentials.json', '.env')
    expect(() => prepareToStore(join(folder, 'credentials.json'))).toThrow(UsageError)
    expect(() => storeCredential(join(folder, 'credentials.json'), credential)).toThrow(UsageError)
    expect(() => setInEnvFile(join(folder, '.env'), { DATABASE_URL: undefined })).toThrow(UsageError)
    for (const file of readdirSync(folder)) expect(readFileSync(join(folder, file), 'utf8')).toBe('of the user')
    expect(readdirSync(folder)).toHaveLength(2)
  })

  test.runIf(isRoot)('does not replace a file of the user in a folder of its own', async () => {
    const folder = await temporaryFolder()
    writeFileSync(join(folder, '.env'), 'of the user')
    chownSync(join(folder, '.env'), USER, USER)
    expect(() => setInEnvFile(join(folder, '.env'), { DATABASE_URL: undefined })).toThrow(UsageError)
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('of the user')
  })

  test('exports nothing into a lake there', async () => {
    const folder = await usersFolder()
    const write = withWritingFolder(await openStore(folder), clock, async () => 'written')
    await expect(write).rejects.toThrow(UsageError)
    expect(readdirSync(folder)).toEqual([])
  })

  test('keeps no compiled code there, and runs none', async () => {
    const folder = await temporaryFolder()
    writeFileSync(join(folder, 'main.cjs'), 'exports.four = () => 4')
    const kept = await usersFolder()
    const compiled = compiledCode({ folder, kept, edition: 'one', use: 'sync' }, {} as never)
    expect(compiled.load('main.cjs')).toHaveProperty('four')
    compiled.keep()
    expect(readdirSync(kept)).toEqual([])
  })

  test.runIf(isRoot)('ends with exit code 2 for every command that makes a database there', async () => {
    const folder = await usersFolder()
    for (const command of [['sync', 'territories'], ['migrate']]) {
      const { code, err } = await runInside([...command, '--data-dir', folder])
      expect({ command, code, err }).toMatchObject({ code: 2, err: expect.stringContaining('belongs to the user') })
    }
    expect(readdirSync(folder)).toEqual([])
  })
})

test('folders of root that others may write, such as volumes, and folders of one’s own are used', async () => {
  const folder = await temporaryFolder()
  mkdirSync(join(folder, 'own'))
  if (isRoot) vi.spyOn(process, 'geteuid').mockReturnValue(USER)
  await (await lockFolder(join(folder, 'own'), { clock }))()
  await (await lockFolder(join(folder, 'own', 'new'), { clock }))()
})
