import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { GameHistory } from '../../src/sandbox/index.ts'
import { freePort } from '../support/free-port.ts'
import { startBinaries } from '../support/postgres-binaries.ts'
import { Installation } from './installation.ts'
import { round, type Scene } from './round.ts'
import { type Ended, type Place, Stage } from './stage.ts'
import { type Compared, compareWithTruth } from './truth.ts'

const HOUR = 3_600_000
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const setting = (name: string, otherwise: number) => Number(process.env[`WYNNSYNC_FORTNIGHT_${name}`] || otherwise)

const days = setting('DAYS', 14)
/** Seconds of the game in a second: a fortnight in an hour. */
const speed = setting('SPEED', 336)
const seed = setting('SEED', 7)
/** One database alone, where only lines are tried. */
const kinds = (['embedded', 'server'] as const).filter((kind) => kind.includes(process.env.WYNNSYNC_FORTNIGHT_ON ?? ''))
/** A commit that plays the first half. */
const former = process.env.WYNNSYNC_FORTNIGHT_FROM

/** What happens to the one who records, by the share of the time that is over. */
const incidents = [
  [0.12, 'stop'],
  [0.26, 'kill'],
  [0.38, 'pause'],
  [0.5, 'half'],
  [0.64, 'kill'],
  [0.8, 'stop'],
] as const

/** One installation, what is to come, and what was found. */
interface Player {
  readonly scene: Scene
  readonly due: (typeof incidents)[number][]
  compared?: Compared
  rounds: number
}

/**
 * Plays, and says everything that was wrong.
 *
 * @param root the repository, built
 * @returns whether nothing was
 */
export async function play(root: string): Promise<boolean> {
  const stage = await Stage.set()
  process.stdout.write(`The play is logged in ${stage.folder}\n`)
  process.once('exit', () => stage.end())
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => process.exit(code))
  const cluster = await startBinaries({ keeps: true, place: stage.folder })
  const theatre = await opened(stage, root, cluster.url)
  process.stdout.write(`${days} days of the game, ${speed} of its seconds in a second; ${cluster.taken}\n`)
  const players = await Promise.all(
    kinds.map(async (kind) => playerOf(await Installation.open(kind, theatre.around), theatre)),
  )
  const progress = setInterval(() => say(theatre, players), 60_000)
  await Promise.all(players.map((player) => drive(player, theatre)))
  clearInterval(progress)
  for (const player of players) await compare(player, theatre)
  const isGood = summarize(theatre, players)
  stage.end()
  await cluster.stop()
  if (isGood) stage.remove()
  else process.stdout.write(`The logs are in ${stage.folder}\n`)
  return isGood
}

type Theatre = Awaited<ReturnType<typeof opened>>

/** The sandbox runs, and the program is installed. */
async function opened(stage: Stage, root: string, server: string) {
  const first = former ? formerProgram(stage, root, former) : root
  stage.install(join(first, 'dist/main.js'))
  const port = await freePort()
  const environment = { WYNNSYNC_CLOCK: 'api', WYNNSYNC_BASE_URL: `http://127.0.0.1:${port}/v3` }
  const place: Place = { name: 'sandbox', cwd: stage.makeFolder('sandbox'), environment: {} }
  // More than is played: what takes longer than its time must not lie in the future, of which pages and questions know nothing.
  const sandbox = stage.start(
    `exec '${process.execPath}' '${root}/dist/main.js' sandbox --port ${port} --seed ${seed} --speed ${speed} --at -${Math.ceil(days * 30) + 48}h`,
    place,
  )
  if (!(await sandbox.until(/stop: Ctrl-C/))) throw new Error((await sandbox.ended).err)
  const api = `${environment.WYNNSYNC_BASE_URL}`
  const territories = Object.keys((await (await fetch(`${api}/guild/list/territory`)).json()) as object)
  const control = `http://127.0.0.1:${port}/__sandbox`
  const history = async () => (await (await fetch(`${control}/history`)).json()) as GameHistory
  const from = Date.parse((await history()).to)
  const began = Date.now()
  const hook = await receiver()
  return {
    stage,
    root,
    first,
    api,
    server,
    hook,
    territories,
    history,
    from,
    began,
    around: { stage, root, environment, server },
    /** The share of the time that is over. */
    share: () => ((Date.now() - began) * speed) / (days * 24 * HOUR),
    now: () => new Date(from + (Date.now() - began) * speed).toISOString(),
  }
}

/** Another commit, compiled, where the user who plays can read it. */
function formerProgram(stage: Stage, root: string, commit: string): string {
  const folder = join(stage.folder, 'former')
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args])
  git('worktree', 'add', '--detach', '--quiet', folder, commit)
  process.once('exit', () => git('worktree', 'remove', '--force', folder))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, stdio: 'ignore' })
  return folder
}

/** Takes what watches send. */
async function receiver(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/of-the-play`
}

function playerOf(installation: Installation, theatre: Theatre): Player {
  const { stage, api, server, hook, from, now, first } = theatre
  const scene = {
    stage,
    installation,
    api,
    server,
    hook,
    docs: first,
    isOfNow: !former,
    pages: 0,
    from: new Date(from).toISOString(),
    now,
  }
  return { scene, due: [...incidents], rounds: 0 }
}

/** Goes round and round until the time is over; the first round is played to its end, and every incident happens. */
async function drive(player: Player, theatre: Theatre): Promise<void> {
  const { scene, due } = player
  const { installation } = scene
  let begun: number | undefined
  await installation.start()
  while (theatre.share() < 1 || player.rounds === 0) {
    for await (const _ of round(scene, player.rounds)) {
      // The first names have come: what was recorded until then is not worth an incident.
      begun ??= theatre.share()
      const [next] = due
      if (next && next[0] < (theatre.share() - begun) / Math.max(0.05, 1 - begun)) await happen(player, theatre)
      if (theatre.share() >= 1 && player.rounds > 0) break
    }
    player.rounds += 1
  }
  while (due.length > 0) await happen(player, theatre)
  await scene.stage.type('wynnsync status', installation.main)
  await installation.stop()
}

/** What is due happens. */
async function happen({ scene, due }: Player, theatre: Theatre): Promise<void> {
  const { stage, installation } = scene
  const [, what] = due.shift() ?? []
  stage.note(`${installation.main.name}: ${what}`)
  if (what === 'pause') return await installation.pause((3 * HOUR) / speed)
  if (what === 'kill') await installation.kill()
  else await installation.stop()
  if (what === 'half') {
    await compareOnce(scene, theatre)
    if (former) stage.install(join(theatre.root, 'dist/main.js'))
    Object.assign(scene, { docs: theatre.root, isOfNow: true })
  }
  await sleep(2000)
  await installation.start()
}

async function compareOnce({ stage, installation }: Scene, theatre: Theatre): Promise<Compared> {
  const history = await theatre.history()
  const compared = await installation.withDatabase((db) => compareWithTruth(db, history, theatre.territories, seed))
  stage.note(`${installation.main.name}: ${JSON.stringify(compared)}`)
  for (const row of compared.wrong.slice(0, 10)) stage.stumble(`${installation.main.name}: ${row}`)
  if (compared.wrong.length > 10)
    stage.stumble(`${installation.main.name}: and ${compared.wrong.length - 10} wrong rows more`)
  return compared
}

/** At the end: what was recorded is true and whole, and only what was stopped did not succeed. */
async function compare(player: Player, theatre: Theatre): Promise<void> {
  const { stage, installation } = player.scene
  player.compared = await compareOnce(player.scene, theatre)
  await stage.type('wynnsync verify', installation.main)
  const ended = await stage.type('wynnsync runs --failed --json --limit 0', installation.main)
  // After hours without a response so many guilds may truly hide something that nothing is removed before later responses say the same.
  const isHeld = ({ status, reason }: ListedRun) => status === 'rejected' && /hide at once/.test(reason ?? '')
  const failed = runsIn(ended).filter((run) => run.status !== 'interrupted' && !isHeld(run))
  for (const { resource, status, reason, error } of failed.slice(0, 10))
    stage.stumble(`${installation.main.name}: a run of ${resource} is ${status}: ${error ?? reason}`)
}

interface ListedRun {
  readonly resource: string
  readonly status: string
  readonly reason: string | null
  readonly error: string | null
}

function runsIn({ out }: Ended): ListedRun[] {
  return out.trim() === '' ? [] : JSON.parse(out).runs
}

function say({ stage, began, share }: Theatre, players: readonly Player[]): void {
  const minutes = (Date.now() - began) / 60_000
  const left = Math.max(0, minutes / share() - minutes)
  const doing = players.map(({ scene, rounds }) => `${scene.installation.kind} in round ${rounds + 1}`).join(', ')
  process.stdout.write(
    `${minutes.toFixed(0)} min, ${left.toFixed(0)} left: ${stage.commands} commands, ${stage.stumbles.length} stumbles; ${doing}\n`,
  )
}

function summarize({ stage }: Theatre, players: readonly Player[]): boolean {
  const lines = players.map(({ scene: { installation, pages }, compared, rounds }) => {
    const counts = Object.entries(compared?.counts ?? {}).map(([name, count]) => `${count} ${name}`)
    return `${installation.kind}: ${[`${rounds} rounds`, `${pages} pages`, ...counts].join(', ')}; ${compared?.wrong.length} wrong`
  })
  const longest = stage.longest.map(([seconds, line]) => `  ${seconds.toFixed(1)} s  ${line.slice(0, 120)}`)
  const log = readFileSync(join(stage.folder, 'play.log'), 'utf8')
  const warnings = new Map<string, number>()
  for (const [, said = ''] of log.matchAll(/^\S+Z (?:warn|error) (.{0,90})/gm)) {
    const kind = said.replace(/run=.*|\d+/g, '#')
    warnings.set(kind, (warnings.get(kind) ?? 0) + 1)
  }
  const said = [...warnings].sort(([, a], [, b]) => b - a).slice(0, 12)
  const text = [
    `${stage.commands} commands, ${stage.stumbles.length} stumbles`,
    ...lines,
    'The longest:',
    ...longest,
    'What start warned of:',
    ...said.map(([kind, count]) => `  ${count} times ${kind}`),
    ...(stage.stumbles.length > 0 ? ['Stumbles:', ...stage.stumbles] : []),
  ].join('\n')
  stage.note(text)
  process.stdout.write(`${text}\n`)
  return stage.stumbles.length === 0
}
