import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  chooseCredential,
  forgetCredential,
  noteUse,
  readCredential,
  type StoredCredential,
  storeCredential,
} from '../../src/app/stored-credential.ts'
import { virtualClock } from '../../src/base/clock.ts'
import { readConfig } from '../../src/base/config.ts'
import { FatalError } from '../../src/base/errors.ts'
import { awaitCode, listenForCode } from '../../src/cli/commands/auth/auth-listener.ts'
import { temporaryFolder } from '../support/postgres.ts'

const secret = 'wgc_of-the-tester'
const credential: StoredCredential = {
  kind: 'oauth',
  baseUrl: 'http://127.0.0.1:1/v3',
  scopes: ['identify'],
  obtainedAt: '2026-06-01T10:00:00.000Z',
  lastUsedAt: null,
  who: { uuid: 'u', username: 'Somebody' },
  token: () => secret,
}
const at = (instant: string) => Date.parse(`2026-06-01T${instant}Z`)

const storePlace = async () => join(await temporaryFolder(), 'deep', 'er', 'credentials.json')

describe('the credential file', () => {
  test('gives back what was stored, and shows its token to nobody who shows the rest', async () => {
    const file = await storePlace()
    expect(readCredential(file)).toBeNull()
    storeCredential(file, credential)
    const read = readCredential(file)
    expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(credential)))
    expect(read?.token()).toBe(secret)
    const chosen = chooseCredential({ token: undefined, credentialsFile: file, baseUrl: `${credential.baseUrl}/` })
    for (const shown of [read, chosen])
      expect(inspect(shown, { depth: 9 }) + JSON.stringify(shown)).not.toContain(secret)
    const config = readConfig({}, { WYNNSYNC_TOKEN: secret, WYNNSYNC_CLIENT_SECRET: 'hush' }, await temporaryFolder())
    expect([config.token, config.clientSecret]).toEqual([secret, 'hush'])
    expect(inspect({ config }, { depth: 9 })).not.toMatch(/wgc_of-the-tester|hush/)
  })

  test('is chosen only for its own API, port and path included', async () => {
    const file = await storePlace()
    storeCredential(file, credential)
    const chosen = (baseUrl: string) => chooseCredential({ token: undefined, credentialsFile: file, baseUrl })?.from
    expect(chosen('HTTP://127.0.0.1:1/v3//')).toBe('file')
    const others = ['http://127.0.0.1:2/v3', 'https://127.0.0.1:1/v3', 'http://127.0.0.2:1/v3', 'http://127.0.0.1:1/v4']
    expect(others.map(chosen)).toEqual(others.map(() => undefined))
    expect(chooseCredential({ token: 't', credentialsFile: file, baseUrl: 'http://x' })?.from).toBe('WYNNSYNC_TOKEN')
  })

  test('notes a use once an hour, and none of a credential that was replaced or forgotten meanwhile', async () => {
    const file = await storePlace()
    storeCredential(file, credential)
    const lastUse = () => readCredential(file)?.lastUsedAt ?? null
    noteUse(file, credential, at('11:00:00'))
    expect(lastUse()).toBe('2026-06-01T11:00:00.000Z')
    const used = readCredential(file) ?? credential
    noteUse(file, used, at('11:59:59'))
    expect(lastUse()).toBe('2026-06-01T11:00:00.000Z')
    noteUse(file, used, at('12:00:00'))
    expect(lastUse()).toBe('2026-06-01T12:00:00.000Z')
    storeCredential(file, { ...credential, token: () => 'another' })
    noteUse(file, used, at('14:00:00'))
    expect([lastUse(), readCredential(file)?.token()]).toEqual([null, 'another'])
    expect(forgetCredential(file)).toBe(true)
    noteUse(file, used, at('15:00:00'))
    expect([existsSync(file), forgetCredential(file)]).toEqual([false, false])
  })

  test.each([
    '',
    'null',
    '[]',
    '{}',
    `{"kind":"oauth","token":"${secret}"}`,
    `{"kind":"oauth","token":"${secret}","baseUrl":"nowhere"}`,
    `{"kind":"cookie","token":"${secret}","baseUrl":"http://x"}`,
    `{"kind":"oauth","token":"${secret}", oops`,
  ])('with %j in it is refused with what to do, without a word of it', async (text) => {
    const file = join(await temporaryFolder(), 'credentials.json')
    writeFileSync(file, text, { mode: 0o600 })
    expect(() => readCredential(file)).toThrow(FatalError)
    expect(() => readCredential(file)).toThrow(/delete it and run wynnsync auth login/)
    expect(() => readCredential(file)).not.toThrow(secret)
  })

  test('is refused when it is a folder, or others can read or write it, also behind a link', async () => {
    const folder = await temporaryFolder()
    const file = join(folder, 'credentials.json')
    mkdirSync(join(folder, 'folder'), { mode: 0o700 })
    expect(() => readCredential(join(folder, 'folder'))).toThrow(FatalError)
    storeCredential(file, credential)
    symlinkSync(file, join(folder, 'link'))
    expect(readCredential(join(folder, 'link'))?.token()).toBe(secret)
    for (const mode of [0o640, 0o620, 0o604, 0o602]) {
      chmodSync(file, mode)
      expect(() => readCredential(file)).toThrow(/chmod 600/)
      expect(() => readCredential(join(folder, 'link'))).toThrow(/chmod 600/)
    }
  })

  test('leaves nothing beside it when it cannot be written', async () => {
    const folder = await temporaryFolder()
    const file = join(folder, 'taken')
    mkdirSync(join(file, 'full'), { recursive: true })
    expect(() => storeCredential(file, credential)).toThrow(/WYNNSYNC_CREDENTIALS/)
    expect(readdirSync(folder)).toEqual(['taken'])
    writeFileSync(join(folder, 'plain'), '')
    expect(() => storeCredential(join(folder, 'plain', 'credentials.json'), credential)).toThrow(FatalError)
  })
})

describe('the wait for the browser', () => {
  async function waiting(signal = new AbortController().signal) {
    const clock = virtualClock(at('10:00:00'))
    const listener = await listenForCode({ port: 0, state: 'state' })
    onTestFinished(() => listener.close({ status: 500, text: 'over' }))
    const back = (query: string) => fetch(`${listener.redirectUri}?${query}`)
    return { clock, listener, back, code: awaitCode(listener, clock, signal) }
  }

  test('ends after five minutes', async () => {
    const { clock, code } = await waiting()
    const ended = expect(code).rejects.toThrow(/no login within five minutes/)
    await clock.advance(5 * 60_000)
    await ended
  })

  test('ends with the reason of the signal', async () => {
    const ending = new AbortController()
    const { code } = await waiting(ending.signal)
    const ended = expect(code).rejects.toThrow('enough')
    ending.abort(new Error('enough'))
    await ended
  })

  test('shows the page only when the login is over, and gives no code when one comes twice or with an error', async () => {
    const { listener, back, code } = await waiting()
    const page = back('state=state&code=1234567890')
    expect(await code).toBe('1234567890')
    const early = await Promise.race([page, new Promise((resolve) => setTimeout(resolve, 20, 'no page yet'))])
    expect(early).toBe('no page yet')
    await listener.close({ status: 200, text: 'done' })
    expect(await (await page).text()).toBe('done\n')

    for (const query of ['code=a&code=b', 'code=', '', 'code=a&error=server_error']) {
      const next = await waiting()
      const refused = expect(next.code).rejects.toThrow(FatalError)
      const shown = next.back(`state=state&${query}`)
      await refused
      await next.listener.close({ status: 400, text: 'no' })
      expect((await shown).status).toBe(400)
    }
  })
})
