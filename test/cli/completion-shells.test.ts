import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildProgram, type Environment, mainFile, runProgram, startCommand } from '../support/cli.ts'
import { place } from '../support/guild-answers.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'
import { hasTerminals, wordsOnTerminal } from '../support/terminal.ts'

/** What would run if a shell evaluated it. */
const hostile = `Zed$(touch hacked)\`touch hacked\`;touch hacked'"`

const isThere = (shell: string) => spawnSync(shell, ['--version']).status === 0
const why = (shell: string) => (isThere(shell) ? '' : ` (skipped: no ${shell}; install it)`)

let cwd: string
let environment: Environment

beforeAll(async () => {
  await buildProgram()
  cwd = await temporaryFolder()
  environment = { DATABASE_URL: await testDatabaseUrl(), PATH: `${cwd}:${process.env.PATH}`, HOME: cwd }
  // Writes down what it is called with, unless it is asked for words.
  const program = `#!/bin/sh
case "$1" in
  query) for one; do printf '<%s>' "$one"; done > called; mv called words ;;
  *) exec '${process.execPath}' '${mainFile}' "$@" ;;
esac
`
  await writeFile(join(cwd, 'wynnsync'), program)
  await chmod(join(cwd, 'wynnsync'), 0o700)
  const api = await servedApi()
  const places = ['Ragged Coast', hostile, 'Guild: Hall'].map((name) => [name, place('a', '08:00')])
  api.setAnswer('/guild/list/territory', () => ({ body: Object.fromEntries(places) }))
  const { code, out } = await runProgram(['sync', 'territories', '--base-url', api.url], environment)
  expect(code, out).toBe(0)
  await api.close()
})

/** What the program was called with, once it was. */
async function calledWith(): Promise<string> {
  const file = join(cwd, 'words')
  for (let nth = 0; nth < 200 && !existsSync(file); nth++) await new Promise((resolve) => setTimeout(resolve, 50))
  const words = await readFile(file, 'utf8')
  await rm(file)
  return words
}

describe.skipIf(!isThere('fish'))(`completion in fish${why('fish')}`, () => {
  const offered = async (line: string) => {
    const words = `wynnsync completion fish | source; complete -C '${line}'`
    const { out, err } = await startCommand('fish', ['--no-config', '-c', words], environment, cwd).finished
    expect(err).toBe('')
    return out.trim().split('\n')
  }

  test('offers flags, resources, questions with what they are, and names', async () => {
    expect(await offered('wynnsync sync item-s')).toEqual(['item-sets'])
    expect(await offered('wynnsync runs list --fa')).toEqual(['--failed\tonly runs that failed or were rejected'])
    expect((await offered('wynnsync query member_r'))[0]).toMatch(/^member_retention\t\w/)
    expect(await offered('wynnsync query territory_owner_at "Ragged ')).toEqual(['Ragged Coast\tterritory'])
    expect((await offered('wynnsync query territory_owner_at Z'))[0]).toContain('Zed')
    expect(existsSync(join(cwd, 'hacked'))).toBe(false)
  })
})

describe.skipIf(!isThere('zsh') || !hasTerminals)(`completion in zsh${why('zsh')}`, () => {
  /** A shell on a terminal, in which a person types. */
  async function opened() {
    const shell = wordsOnTerminal('zsh -f -i', environment, cwd)
    onTestFinished(() => void shell.child.kill())
    shell.send('autoload -Uz compinit; compinit -D -u; source <(wynnsync completion zsh); PS1=; echo rea""dy\n')
    await shell.until(/ready\r\n/)
    return shell
  }

  test.each([
    ['wynnsync query member_r\t', '<query><member_retention>'],
    ['wynnsync query territory_owner_at Rag\t', '<query><territory_owner_at><Ragged Coast>'],
    ["wynnsync query territory_owner_at 'Rag\t", '<query><territory_owner_at><Ragged Coast>'],
    ['wynnsync query territory_owner_at "Rag\t', '<query><territory_owner_at><Ragged Coast>'],
    ['wynnsync query territory_owner_at Gu\t', '<query><territory_owner_at><Guild: Hall>'],
    ['wynnsync query territory_owner_at Z\t', `<query><territory_owner_at><${hostile}>`],
  ])('types %j as one word, and runs none of it', { timeout: 30_000 }, async (line, words) => {
    const { send } = await opened()
    send(`${line}\n`)
    expect(await calledWith()).toBe(words)
    expect(existsSync(join(cwd, 'hacked'))).toBe(false)
  })
})
