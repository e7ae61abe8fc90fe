import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock, virtualClock } from '../../src/base/clock.ts'
import { commands, runProgram as runInProcess } from '../../src/cli/program.ts'
import { buildProgram, type Environment, mainFile, startCommand } from '../support/cli.ts'
import { runInside } from '../support/cli-inside.ts'
import { freePort } from '../support/free-port.ts'
import { gitRepository } from '../support/git-repository.ts'
import { guildBody, guildId, place, playerId } from '../support/guild-answers.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { profile } from '../support/player-answers.ts'
import { temporaryFolder, testDatabaseUrl, testDataDir } from '../support/postgres.ts'
import { openReceiver } from '../support/receiver.ts'
import { recordingFolder } from '../support/recording-folder.ts'
import { servedApi } from '../support/served.ts'
import { hasTerminals, onTerminal } from '../support/terminal.ts'
import { instantOf, item } from '../support/world.ts'
import { redirectOf } from './auth-browser.ts'

/** The examples of a help text, in its order. */
async function examplesOf(words: readonly string[]): Promise<string[]> {
  let text = ''
  const write = (piece: string) => {
    text += piece
  }
  const terminal = { out: { write }, err: { write }, signal: new AbortController().signal }
  await runInProcess([...words, '--help'], terminal as never)
  return [...(text.split('\nExamples:\n')[1] ?? '').matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = '']) => line)
}

const helps = commands.flatMap((one) => {
  const name = one.usage.split(' ')[0] ?? ''
  return 'commands' in one ? [[name], ...one.commands.map(({ usage }) => [name, usage.split(' ')[0] ?? ''])] : [[name]]
})
const listed = await Promise.all([[], ...helps].map(async (words) => ({ words, examples: await examplesOf(words) })))
const seen = new Set<string>()
/** Each example once, with those of the same help text. */
const examples = listed.flatMap(({ examples }) =>
  examples.flatMap((line) => {
    if (seen.has(line)) return []
    seen.add(line)
    return [{ line, neighbours: examples }]
  }),
)

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))

/** What runs until it is stopped, and what it says when it is ready. */
const servers: readonly [RegExp, string][] = [
  [/^wynnsync (serve(?! --export)|sandbox|serve-db)\b/, 'stop: Ctrl-C'],
  [/\bwynnsync start\b/, 'started'],
  [/^wynnsync status --watch/, 'territories'],
  // Shown to its end by test/cli/demo.test.ts.
  [/^wynnsync demo/, '1. The map'],
]
const readyOf = (line: string) => servers.find(([command]) => command.test(line))?.[1]

const has = (tool: string) => spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0
const missing = ['jq', 'psql', 'curl', 'less'].filter((tool) => !has(tool))
const lacks = (line: string) => missing.find((tool) => line.includes(`${tool} `) || line.endsWith(tool))

const HOUR = 3_600_000

let cwd: string
let environment: Environment
let embedded: Environment
let quarantining: Environment
/** What stands for something of the reader's own, and what it is here. */
let own: readonly [RegExp, string | ((found: string) => string)][]

beforeAll(async () => {
  await buildProgram()
  cwd = await temporaryFolder()
  for (const [name, text] of [
    ['wynnsync', `exec '${process.execPath}' '${mainFile}' "$@"`],
    // The browser: it follows the login to its end.
    ['xdg-open', 'exec curl --silent --location --output /dev/null "$1"'],
  ] as const) {
    await writeFile(join(cwd, name), `#!/bin/sh\n${text}\n`)
    await chmod(join(cwd, name), 0o700)
  }
  const uuid = '0000dead-beef-4000-8000-000000000000'
  const tokens = ['t0ken-of-the-examples']
  const items = smallItemWorld()
  // Maintenance removes what is older than some weeks.
  const clock = virtualClock(systemClock.now() - 2 * HOUR)
  const api = await servedApi({ clock, tokens, items, game: { guilds: 20, players: 100 } })
  const guilds = ['GLD', 'PREFIX', 'ABC'].map((prefix, nth) => [
    `Guild ${prefix}`,
    { uuid: guildId('abc'[nth] ?? ''), prefix },
  ])
  const body = guildBody(
    'a',
    { 1: { rank: 'owner', uuid, username: 'PlayerName' } },
    { name: 'Guild GLD', prefix: 'GLD' },
  )
  api.setAnswer('/guild/list/guild', () => ({ body: Object.fromEntries(guilds) }))
  api.setAnswer(`/guild/uuid/${guildId('a')}`, () => ({ body }))
  const holdBy = (letter: string, at: number) => {
    const acquired = new Date(at).toISOString()
    api.setAnswer('/guild/list/territory', () => ({ body: { Detlas: { ...place(letter, null), acquired } } }))
  }
  holdBy('a', clock.now() - HOUR)
  // Of a hundred players so few are online at some hours, or none, that a guard rejects the list.
  const online = Array.from({ length: 20 }, (_, nth) => [playerId(nth + 1), `EU${1 + (nth % 3)}`])
  api.setAnswer('/player', () => ({ body: { total: online.length, players: Object.fromEntries(online) } }))
  const home = {
    PATH: `${cwd}:${process.env.PATH}`,
    WYNNSYNC_BASE_URL: api.url,
    WYNNSYNC_CREDENTIALS: join(cwd, 'credentials.json'),
  }
  environment = { ...home, DATABASE_URL: await testDatabaseUrl() }
  embedded = { ...home, WYNNSYNC_DATA_DIR: await testDataDir() }
  const sync = async (...args: string[]) => {
    const { code, out, err } = await runInside(['sync', ...args, '--json'], environment)
    expect([0, 3], out + err).toContain(code)
    return JSON.parse(out)
  }
  await sync('guild-list', 'territories', 'items', 'online-players')
  await sync('guilds', '--guild', 'GLD')
  // A capture, and a record that could not be read once.
  await api.clock.moveTo(api.clock.now() + HOUR)
  holdBy('b', api.clock.now())
  const [first, ...others] = items.items
  api.setAnswer('/item/database', () => ({ body: [{ ...first, type: 7 }, ...others] }))
  await sync('territories', 'items')
  // Later examples sync the items again, and then nothing is in quarantine any more.
  quarantining = { ...home, DATABASE_URL: await testDatabaseUrl() }
  await runInside(['sync', 'items'], quarantining)
  api.setAnswer('/item/database', () => null)
  const brokenOf = async (where: Environment) =>
    JSON.parse((await runInside(['quarantine', '--json'], where)).out).quarantine[0]
  const lake = join(cwd, 'lake-of-a-friend')
  expect((await runInside(['lake', 'export', lake, '--people'], environment)).code).toBe(0)
  const git = await gitRepository([
    {
      at: instantOf('10:00'),
      files: { 'guilds/GLD.json': JSON.stringify(body), 'players/1.json': JSON.stringify(profile(1)) },
    },
  ])
  const recordings = await recordingFolder([{ at: '10:00', path: '/item/database?fullResult', body: [item('Ash')] }])
  const receiver = await openReceiver()
  await writeFile(join(cwd, 'url.txt'), receiver.url)
  const ports = new Map<string, number>()
  for (const port of ['8080', '5433', '9464', '8765']) ports.set(port, await freePort())
  const verifier = 'v'.repeat(43)
  own = [
    [/\bserve --public\b/g, 'serve --public --host 127.0.0.1 --port 8080'],
    [/\bserve-db$/g, 'serve-db --port 5433'],
    [/\b(8080|5433|9464|8765)\b/g, (port) => String(ports.get(port))],
    [/postgres:\/\/me@localhost\/wynn\b/g, await testDatabaseUrl({ migrated: false })],
    [/https:\/\/(discord\.com\/api\/webhooks\/)?\.\.\./g, receiver.url],
    [/<uuid>/g, uuid],
    [/\b3f2a91c0\b/g, (await brokenOf(environment)).runId.slice(0, 8)],
    [/\b1[23]\b/g, String((await brokenOf(quarantining)).id)],
    [/<id>/g, 'sandbox'],
    [/<verifier>/g, verifier],
    [/<url>/g, 'http://127.0.0.1:9/callback'],
    [/<code>/g, await codeFor(api.url, verifier, 'http://127.0.0.1:9/callback')],
    [/\bKEY\b/g, '$(cat key.txt)'],
    [/\bcurl /g, 'curl --fail-with-body --silent --show-error '],
    [/\bpsql /g, 'psql -v ON_ERROR_STOP=1 '],
    [/retract recordings/g, `backfill items --from ${recordings} && wynnsync retract ${recordings}`],
    [/--from recordings/g, `--from ${recordings}`],
    [/~\/wynn-data/g, git],
    [/https:\/\/example\.org\/wynn-data/g, `file://${git}`],
    [/https:\/\/example\.org\/lake\b/g, lake],
    [/^ssh -L \S+ server /g, ''],
    [/^nohup (.*) &$/g, 'nohup $1'],
  ]
})

/** A code as the login page of the sandbox sends it to the redirect's address. */
async function codeFor(baseUrl: string, verifier: string, redirect: string): Promise<string> {
  const url = new URL('/authorize', baseUrl)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  url.search = String(
    new URLSearchParams({
      response_type: 'code',
      client_id: 'sandbox',
      redirect_uri: redirect,
      scope: 'identify',
      state: 'of-the-example',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }),
  )
  return String((await redirectOf(url.href)).searchParams.get('code'))
}

const asHere = (line: string) => own.reduce((text, [what, here]) => text.replace(what, here as string), line)

/** Runs `others` while `server` runs, which then ends by SIGTERM, or by itself. */
function beside(server: string, ready: string, others: string): string {
  return `rm -f out.txt err.txt wynnsync.log
> out.txt 2> err.txt ${asHere(server)} & pid=$!
until grep -q '${ready}' out.txt err.txt wynnsync.log 2> no.txt; do kill -0 $pid || { cat out.txt err.txt; exit 9; }; sleep 0.1; done
${others || 'true'}; code=$?
kill -${server.startsWith('wynnsync demo') ? 'KILL' : 'TERM'} $pid; wait $pid; ended=$?
[ $code = 0 ] && [ $ended = ${server.startsWith('wynnsync demo') ? 137 : 0} ] || { echo "$code $ended"; cat out.txt err.txt; exit 9; }`
}

/** What a shell runs for an example of a help text. */
function scriptOf(line: string, examples: readonly string[]): string {
  const ready = readyOf(line)
  if (ready) return beside(line, ready, '')
  if (/^(curl|psql) /.test(line)) {
    const server = examples.find(readyOf) ?? 'wynnsync serve --port 8080'
    return beside(server, readyOf(server) ?? '', asHere(line))
  }
  if (line.includes('--no-browser')) {
    return `rm -f out.txt
${asHere(line)} > out.txt 2>&1 & pid=$!
until url=$(grep -oE 'http\\S+authorize\\S+' out.txt); do kill -0 $pid || exit 9; sleep 0.1; done
xdg-open "$url"; wait $pid`
  }
  // A key has a name once.
  const before = line.startsWith('wynnsync web-key add') ? 'wynnsync web-key remove my-bot --yes 2> no.txt\n' : ''
  return before + asHere(line)
}

/** The words of a command that needs no shell: neither its operators nor its expansions, nor a stdin of its own. */
function plainWords(line: string): string[] | undefined {
  if (readyOf(line) || line.includes('--no-browser') || !/^wynnsync (?!mcp)[^|&;<>$`*?(){}~#\\]+$/.test(line))
    return undefined
  const words = [...line.matchAll(/"[^"]*"|'[^']*'|[^\s"']+/g)].map(([word]) => word)
  return words.join(' ') === line ? words.slice(1).map((word) => word.replace(/^(["'])(.*)\1$/, '$2')) : undefined
}

/** The three questions of `init`, answered with the return key. */
async function answerInit(): Promise<void> {
  if (!hasTerminals) return
  const { until, send, finished } = onTerminal(['init'], embedded, await temporaryFolder())
  for (const question of [/\[embedded\] $/, /leave it as it is\) $/, /compose or start \[\w+\] $/]) {
    await until(question)
    send('\r')
  }
  expect(await finished).toMatchObject({ code: 0 })
}

const embeddedOnly = /\bwynnsync (move|init|serve-db)\b|^psql /

test('every command has examples', () => {
  expect(listed.filter(({ examples }) => examples.length === 0).map(({ words }) => words)).toEqual([])
})

describe('the example', () => {
  for (const { line, neighbours } of examples) {
    const tool = lacks(line)
    test.skipIf(tool)(`${line}${tool ? ` (skipped: no ${tool})` : ''}`, async () => {
      if (line === 'npm run demo') return expect(manifest.scripts.demo).toMatch(/node dist\/main\.js demo$/)
      if (line.startsWith('npm install ')) {
        const [, name, wanted] = /^npm install (.+?)(?:@([\d.r-]+))?$/.exec(line) ?? []
        return expect(manifest.peerDependencies[String(name)]).toContain(wanted ?? '')
      }
      if (line === 'wynnsync init') return await answerInit()
      const script = `set -o pipefail\n${scriptOf(line, neighbours)}`
      const elsewhere = line.startsWith('wynnsync quarantine') ? quarantining : environment
      const given = embeddedOnly.test(line) ? embedded : elsewhere
      const words = plainWords(script.replace(/^.*\n/, ''))
      const { code, out, err } = words
        ? await runInside(words, given, cwd)
        : await startCommand('bash', ['-c', script], given, cwd).finished
      expect(code, `${script}\n${out}${err}`).toBe(0)
      expect(err).not.toMatch(/Error|Warning|Unhandled/)
    })
  }
})
