import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { commands } from '../../src/cli/program.ts'
import { buildProgram, type Environment, mainFile, startCommand } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { guildId, place } from '../support/guild-answers.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

/** What would run if a shell evaluated it. */
const hostile = 'Zed$(touch hacked)`touch hacked`'

let cwd: string
let environment: Environment

beforeAll(async () => {
  await buildProgram()
  cwd = await temporaryFolder()
  environment = { DATABASE_URL: await testDatabaseUrl(), PATH: `${cwd}:${process.env.PATH}` }
  await writeFile(join(cwd, 'wynnsync'), `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`)
  await chmod(join(cwd, 'wynnsync'), 0o700)
  const api = await servedApi()
  const listed = [
    ['Alpha', 'ALP'],
    ['Aleph', 'Alf'],
    [hostile, 'Zed'],
    ['Line\u202e', 'Ze\u202e'],
  ] as const
  const guilds = Object.fromEntries(listed.map(([name, prefix], nth) => [name, { uuid: guildId(String(nth)), prefix }]))
  api.setAnswer('/guild/list/guild', () => ({ body: guilds }))
  const places = ['Ragged Coast', 'Ragged Hill', hostile].map((name) => [name, place('a', '08:00')])
  api.setAnswer('/guild/list/territory', () => ({ body: Object.fromEntries(places) }))
  const { code, out } = await runInside(['sync', 'guild-list', 'territories', '--base-url', api.url], environment)
  expect(code, out).toBe(0)
  await api.close()
})

/** The candidates, in the order in which they are offered. */
async function offered(words: readonly string[], given = environment): Promise<string[]> {
  const { code, out, err } = await runInside(['__complete', '--', ...words], given)
  expect([code, err]).toEqual([0, ''])
  return out.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']))
}

describe('what may follow', () => {
  test('are commands that are not for programs, and flags of the one that is named', async () => {
    const names = commands.flatMap((one) => ('isHidden' in one && one.isHidden ? [] : [one.usage.split(' ')[0]]))
    expect(await offered([''])).toEqual(names)
    expect(await offered(['runs', 's'])).toEqual(['show', 'seasons'])
    expect(await offered(['runs', 'list', '--fa'])).toEqual(['--failed'])
    expect(await offered(['sync', '--quiet', '--gu'])).toEqual(['--guild'])
    expect(await offered(['completion', ''])).toEqual(['bash', 'zsh', 'fish'])
  })

  test('are resources, questions, and what the database knows by name', async () => {
    expect(await offered(['sync', 'items', 'item-s'])).toEqual(['item-sets'])
    expect(await offered(['query', 'member_r'])).toEqual(['member_retention'])
    expect(await offered(['query', 'member_activity', 'A'])).toEqual(['ALP', 'Alf'])
    expect(await offered(['query', 'guild', 'guild_uuid=Al'])).toEqual(['guild_uuid=Alf'])
    expect(await offered(['query', 'territory_owner_at', 'Ragged\\ C'])).toEqual(['Ragged Coast'])
    expect(await offered(['sync', 'guilds', '--guild', 'AL'])).toEqual(['ALP'])
    expect(await offered(['sync', 'guilds', '--guild', '=', 'AL'])).toEqual(['ALP'])
    // Characters that a terminal acts upon cannot be typed.
    expect(await offered(['query', 'guild', 'Z'])).toEqual(['Zed'])
  })

  test('is nothing, and no error, without a database or with one that cannot be reached', async () => {
    expect(await offered(['query', 'member_activity', 'A'], { HOME: cwd })).toEqual([])
    const away = { DATABASE_URL: 'postgres://127.0.0.1:1/none' }
    expect(await offered(['query', 'member_activity', 'A'], away)).toEqual([])
    expect(await offered(['query', 'member_r'], away)).toEqual(['member_retention'])
  })

  test('comes soon from a server that does not answer, and does not open an embedded database', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    await once(silent, 'listening')
    const DATABASE_URL = `postgres://127.0.0.1:${(silent.address() as AddressInfo).port}/none`
    const began = performance.now()
    expect(await offered(['query', 'member_activity', 'A'], { DATABASE_URL })).toEqual([])
    expect(performance.now() - began).toBeLessThan(8000)
    const WYNNSYNC_DATA_DIR = join(cwd, 'data')
    expect(await offered(['query', 'member_activity', 'A'], { WYNNSYNC_DATA_DIR })).toEqual([])
    expect(existsSync(WYNNSYNC_DATA_DIR)).toBe(false)
  })
})

describe('the script', () => {
  test('of bash quotes names as the word that they complete, and runs none of them', async () => {
    const lines = [
      'source <(wynnsync completion bash)',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: bash expands it
      'try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _wynnsync; printf "%s\\n" "${COMPREPLY[@]}"; echo --; }',
      'try wynnsync query territory_owner_at Rag',
      "try wynnsync query territory_owner_at '\"Ragged C'",
      'try wynnsync query territory_owner_at Z',
      "try wynnsync query territory_owner_at '\"Z'",
    ]
    const { out, err } = await startCommand('bash', ['-c', lines.join('\n')], environment, cwd).finished
    expect(err).toBe('')
    const [open, quoted, escaped, none] = out.split('--\n').map((part) => part.trim())
    expect(open).toBe('Ragged\\ Coast\nRagged\\ Hill')
    expect(quoted).toBe('Ragged Coast')
    expect(spawnSync('bash', ['-c', `printf %s ${escaped}`], { encoding: 'utf8' }).stdout).toBe(hostile)
    expect(none).toBe('')
    expect(existsSync(join(cwd, 'hacked'))).toBe(false)
  })

  test('of an unknown shell ends with 2', async () => {
    const { code, err } = await runInside(['completion', 'tcsh'])
    expect([code, err]).toEqual([2, 'wynnsync: the shell must be bash, zsh, fish, got tcsh\n'])
  })
})
