import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { resources } from '../../../resources/index.ts'

const ways = ['systemd', 'cron', 'compose', 'start'] as const

export type Way = (typeof ways)[number]

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
export function usualWay(): Way {
  return existsSync('/run/systemd/system') ? 'systemd' : 'start'
}

/** The ways for a history that lives there: compose brings a server of its own, and its file is in a checkout only. */
export function waysFor(databaseUrl: string | undefined, program: string): readonly Way[] {
  const hasCompose = databaseUrl === undefined && existsSync(join(checkoutOf(program), 'docker-compose.yml'))
  return ways.filter((way) => way !== 'compose' || hasCompose)
}

const checkoutOf = (program: string) => join(program, '../..')

/** What to install or run, ready to be copied. */
export function howToRun(way: Way, place: Place): string {
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
# It ends within ten seconds of SIGTERM.
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
