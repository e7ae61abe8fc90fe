import { existsSync, realpathSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { readConfig, settingsInUse } from '../../../base/config.ts'
import { readEnvFile, setInEnvFile } from '../../../base/env-file.ts'
import { UsageError } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import { resources } from '../../../resources/index.ts'
import { type Questions, questionsOn } from '../../ask.ts'
import { type Context, createContext, writeResult } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { diagnose, exitCodeOfFindings, findingsText, publicFinding } from '../doctor/doctor-command.ts'

interface InitFlags {
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly systemd?: boolean
  readonly cron?: boolean
}

/** What goes into `.env`; undefined: what must not stay there. */
type Chosen = Readonly<Record<string, string | undefined>>

/** `init`: writes `.env`, checks everything, and prints how to run the program. Returns the exit code. */
export async function initCommand(context: Context, flags: InitFlags): Promise<number> {
  if (flags.systemd && flags.cron) throw new UsageError('--systemd and --cron are two ways to run it: choose one')
  if (context.flags.json && !flags.yes) throw new UsageError('--json prints no questions: add --yes')
  const file = resolve('.env')
  const asked = flags.yes ? undefined : questionsOn(context)
  const values = asked ? await answers(asked, context) : givenByFlags(context)
  const program = realpathSync(process.argv[1] ?? '')
  const databaseUrl = 'DATABASE_URL' in values ? values.DATABASE_URL : context.app.config.databaseUrl
  const offered = waysFor(databaseUrl, program)
  const way = flags.systemd ? 'systemd' : flags.cron ? 'cron' : asked ? await wayOf(asked, offered) : 'start'
  // Wrong values are refused before anything is written.
  readConfig(context.flags, { ...values })
  const written = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  const place = { node: process.execPath, program, folder: resolve('.') }
  const run = howToRun(way, place)
  if (flags.dryRun) {
    const said = `${visibleLine(file)} would have ${written.join(', ') || 'no new settings'} of it; nothing was changed\n`
    if (!context.flags.json) context.err.write(said)
    writeResult(context, { file, written, way, run, findings: [] }, run)
    return exitCode.done
  }
  setInEnvFile(file, values)
  const renewed = await createContext(context.flags, context)
  const findings = await diagnose(renewed, true)
  if (!context.flags.json) {
    // Only what is to be installed goes to stdout: `init --systemd > wynnsync.service`.
    context.err.write(
      `${visibleLine(file)} is written, for your eyes only (${written.join(', ') || 'no new settings'})\n\n`,
    )
    const absent = namesOutside(file, context)
    if (absent.length > 0)
      context.err.write(
        `Set in this environment only, and not in ${visibleLine(file)}: ${absent.join(', ')}; a service or crontab has none of it until it is in the file\n\n`,
      )
    context.err.write(`${findingsText(findings)}\nTo run it:\n\n`)
  }
  writeResult(context, { file, written, way, run, findings: findings.map(publicFinding) }, run)
  return exitCodeOfFindings(findings)
}

/** The settings of the environment that the file lacks: what runs from elsewhere does not have them. */
function namesOutside(file: string, { flags }: Context): string[] {
  const { values } = readEnvFile(file, () => false)
  return settingsInUse(flags).flatMap(({ name, source }) =>
    source === 'environment' && (values[name] ?? values[name.toLowerCase()]) === undefined ? [name] : [],
  )
}

/** Without questions: the place that the flags name; everything else stays as it is set. */
function givenByFlags({ flags }: Context): Chosen {
  return {
    // In one layer the server goes before the folder, so none may stay beside it.
    ...(flags.databaseUrl || flags.dataDir ? placeOf(flags.databaseUrl ?? 'embedded') : {}),
    ...(flags.dataDir ? { WYNNSYNC_DATA_DIR: resolve(flags.dataDir) } : {}),
    ...(flags.baseUrl ? { WYNNSYNC_BASE_URL: flags.baseUrl } : {}),
  }
}

async function answers(asked: Questions, context: Context): Promise<Chosen> {
  const place = givenByFlags(context)
  const where = 'DATABASE_URL' in place ? 'as now' : await placeOn(asked, context)
  context.err.write('2. A token raises the limit from 50 to 120 requests a minute; a guest needs none.\n')
  const token = await asked.askSecret('   Token (not shown while you type; Enter: leave it as it is)')
  return { ...placeOf(where), ...place, ...(token ? { WYNNSYNC_TOKEN: token } : {}) }
}

async function placeOn(asked: Questions, context: Context): Promise<string> {
  const { databaseUrl, dataDir } = context.app.config
  const shown = settingsInUse(context.flags).find(({ name }) => name === 'DATABASE_URL')?.value
  const usual = databaseUrl === undefined ? 'embedded' : 'as now'
  context.err.write(
    `1. Where does the history live? "embedded" keeps it in ${visibleLine(dataDir)} and needs nothing else;\n` +
      `   postgres://user:password@host:5432/database keeps it on a server.${shown ? ` Now: ${visibleLine(shown)}` : ''}\n`,
  )
  return await asked.ask('  ', usual)
}

function placeOf(where: string): Chosen {
  if (where === 'as now') return {}
  if (where === 'embedded') return { DATABASE_URL: undefined }
  return { DATABASE_URL: where }
}

async function wayOf(asked: Questions, ways: readonly Way[]): Promise<Way> {
  const list = `${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}`
  for (;;) {
    const said = await asked.ask(`3. How is it to run? ${list}`, usualWay())
    const way = ways.find((one) => one === said)
    if (way) return way
  }
}

const ways = ['systemd', 'cron', 'compose', 'start'] as const

type Way = (typeof ways)[number]

/** Where the program and its `.env` are. */
interface Place {
  /** Absolute path of Node. */
  readonly node: string
  /** Absolute path of `main.js`. */
  readonly program: string
  /** Absolute path of the folder with `.env`. */
  readonly folder: string
}

/** The way that fits this machine. */
function usualWay(): Way {
  return existsSync('/run/systemd/system') ? 'systemd' : 'start'
}

/** The ways for a history that lives there: compose brings a server of its own, and its file is in a checkout only. */
export function waysFor(databaseUrl: string | undefined, program: string): readonly Way[] {
  const hasCompose = databaseUrl === undefined && existsSync(join(checkoutOf(program), 'docker-compose.yml'))
  return ways.filter((way) => way !== 'compose' || hasCompose)
}

const checkoutOf = (program: string) => join(program, '../..')

/** What to install or run, ready to be copied. */
function howToRun(way: Way, place: Place): string {
  const { node, program, folder } = place
  if (way === 'systemd') return unit(place)
  if (way === 'cron') return cronLines(place)
  if (way === 'start') return `cd ${shellWord(folder)} && ${shellWord(node)} ${shellWord(program)} start\n`
  return `# With a PostgreSQL of its own: the history lives there, and not in the embedded database.
cd ${shellWord(checkoutOf(program))} && docker compose --env-file ${shellWord(join(folder, '.env'))} up -d\n`
}

function unit({ node, program, folder }: Place): string {
  return `# /etc/systemd/system/wynnsync.service; then: systemctl enable --now wynnsync
[Unit]
Description=wynnsync: history of the Wynncraft API in Postgres
Wants=network-online.target
After=network-online.target postgresql.service

[Service]
User=${unitText(userName())}
WorkingDirectory=${unitText(folder)}
ExecStart=${unitWord(node)} ${unitWord(program)} start
# 75: the database could not be reached, or another start runs.
Restart=on-failure
RestartSec=30
# It ends within five seconds of SIGTERM.
TimeoutStopSec=15
NoNewPrivileges=yes
PrivateTmp=yes

[Install]
WantedBy=multi-user.target
`
}

/** The user's number where it has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

/** One line for each schedule; those of worklists come last, as they take what is left of the budget. */
function cronLines({ node, program, folder }: Place): string {
  const bySchedule = new Map<string, string[]>()
  for (const { name, schedule } of resources) bySchedule.set(schedule, [...(bySchedule.get(schedule) ?? []), name])
  const command = `cd ${shellWord(folder)} && ${shellWord(node)} ${shellWord(program)} sync`
  // In a crontab, a percent sign ends the line.
  const lines = [...bySchedule].map(
    ([schedule, names]) => `${schedule} ${command.replaceAll('%', '\\%')} ${names.join(' ')} --quiet`,
  )
  return `# crontab -e\n${lines.join('\n')}\n`
}

function shellWord(text: string): string {
  return /^[\w./:@+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** systemd expands specifiers in every value. */
function unitText(text: string): string {
  return text.replaceAll('%', '%%')
}

/** One word of a command line, where systemd knows quotes and variables, too. */
function unitWord(text: string): string {
  const escaped = unitText(text).replace(/[\\"]/g, '\\$&').replaceAll('$', '$$$$')
  return /^[\w./:@+,%-]+$/.test(escaped) ? escaped : `"${escaped}"`
}
