import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemClock, type VirtualClock, virtualClock } from '../../src/base/clock.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { buildProgram, type Environment, mainFile, startCommand } from '../support/cli.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { temporaryFolder, testDataDir } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'
import { hasTerminals, onTerminal } from '../support/terminal.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/tutorials/first-day.md'), 'utf8')

/** The commands of the page in their order, each block with the text that it shows. */
const blocks = [...page.matchAll(/```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs)].map(
  ([, commands = '', shown = '']) => ({
    commands: commands
      .trim()
      .split('\n')
      .map((line) => line.replace(/ +# .*$/, '')),
    shown: shown
      .trim()
      .split('\n')
      .filter((line) => line !== ''),
  }),
)

/** Run by other tests, or of no effect beyond the process. */
const elsewhere = /^npm |^mkdir /

beforeAll(buildProgram)

/** Of so few players, at times none is online. */
async function untilListed({ url }: Sandbox, clock: VirtualClock): Promise<void> {
  for (const now = systemClock.now(); clock.now() < now; await clock.advance(600_000)) {
    const { players } = (await (await fetch(`${url}/player`)).json()) as { players: object }
    if (Object.keys(players).length > 0) return
  }
  throw new Error('no player of the sandbox is online for hours')
}

const oneBlank = (line: string) => line.trim().replace(/ {2,}/g, ' ')

test.skipIf(!hasTerminals)('the tutorial does what it says, command by command', async () => {
  const folder = await temporaryFolder()
  const clock = virtualClock(systemClock.now() - 3 * 3_600_000)
  const api = await servedApi({ clock, items: smallItemWorld(), game: { guilds: 20, players: 60 } })
  await untilListed(api, clock)
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'wynnsync'), `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`)
  await chmod(join(bin, 'wynnsync'), 0o700)
  const environment: Environment = {
    PATH: `${bin}:${process.env.PATH}`,
    WYNNSYNC_BASE_URL: api.url,
    WYNNSYNC_DATA_DIR: await testDataDir(),
  }
  const done: string[] = []
  for (const { commands, shown } of blocks) {
    let said = ''
    for (const command of commands) {
      if (elsewhere.test(command)) continue
      done.push(command.split(' ')[1] ?? '')
      if (command === 'wynnsync init') await answer(environment, folder)
      else if (command === 'wynnsync start') await startAndStop(environment, folder)
      else {
        const { code, out, err } = await startCommand('bash', ['-c', command], environment, folder).finished
        expect(code, `${command}\n${out}${err}`).toBe(0)
        said += out
      }
    }
    expect(said.split('\n').map(oneBlank)).toEqual(expect.arrayContaining(shown.map(oneBlank)))
  }
  expect(done).toEqual(expect.arrayContaining(['init', 'config', 'sync', 'status', 'runs', 'start', 'query', 'report']))
  expect(existsSync(join(folder, 'report.html'))).toBe(true)
})

async function answer(environment: Environment, folder: string): Promise<void> {
  const { until, send, finished, child } = onTerminal(['init'], environment, folder)
  onTestFinished(() => void child.kill('SIGKILL'))
  for (const question of [/\[embedded\] $/, /leave it as it is\) $/, /compose or start \[\w+\] $/]) {
    await until(question)
    send('\r')
  }
  expect(await finished).toMatchObject({ code: 0 })
  expect(existsSync(join(folder, '.env'))).toBe(true)
}

async function startAndStop(environment: Environment, folder: string): Promise<void> {
  const { child, finished } = startCommand('wynnsync', ['start'], environment, folder)
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (piece: string) => {
      if (piece.includes('started')) resolve()
    })
    finished.then(({ err }) => reject(new Error(err)))
  })
  child.kill('SIGTERM')
  expect((await finished).code).toBe(0)
}
