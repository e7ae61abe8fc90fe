import type { Option } from 'commander'
import { openDatabase } from '../../../app/app.ts'
import { UsageError } from '../../../base/errors.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Sql } from '../../../db/database.ts'
import { topics } from '../../../questions/catalogue.ts'
import { nameColumn, readQuestions } from '../../../questions/questions.ts'
import type { CommandDeclaration, CommandGroup } from '../../command.ts'
import { type Context, createContext } from '../../context.ts'
import { commonOptions } from '../../options.ts'

/** A word that may stand in the command line. */
interface Candidate {
  readonly value: string
  readonly about?: string
}

/** What stands on a command line before its last word. */
interface Line {
  /** The last word, without its quotes. */
  readonly word: string
  readonly group?: CommandGroup
  readonly command?: CommandDeclaration
  /** The flag whose value the last word is. */
  readonly option?: string
  readonly operands: readonly string[]
  readonly flags: { readonly databaseUrl?: string }
}

/** All flags of a command, those that resources declare included. */
async function optionsOf({ options = [], loadOptions }: CommandDeclaration): Promise<readonly Option[]> {
  return [...options, ...((await loadOptions?.()) ?? []), ...commonOptions]
}

/** Reads the words after `wynnsync`, as a shell has them: perhaps quoted, and `--flag=value` perhaps as three words. */
function readLine(given: readonly string[], commands: readonly (CommandDeclaration | CommandGroup)[]): Line {
  const words = given.flatMap((word) =>
    word === '=' ? [] : /^--[a-z-]+=/.test(word) ? word.split(/=(.*)/s, 2) : [word],
  )
  const before = words.slice(0, -1).map(unquoted)
  const word = unquoted(words.at(-1) ?? '')
  const called = <C extends { usage: string }>(list: readonly C[], name?: string) =>
    list.find(({ usage }) => usage.split(' ')[0] === name)
  const operands: string[] = []
  const flags: { databaseUrl?: string } = {}
  let option: string | undefined
  for (const one of before) {
    if (option !== undefined) {
      if (option === '--database-url') flags.databaseUrl = one
      option = undefined
    } else if (one.startsWith('--')) option = takesValue(one, commands) ? one : undefined
    else if (!/^-[a-z]/i.test(one)) operands.push(one)
  }
  const first = called(commands, operands.shift())
  const inGroup = first && 'commands' in first ? first : undefined
  const second = inGroup && called(inGroup.commands, operands[0])
  if (second) operands.shift()
  const command = first && 'load' in first ? first : (second ?? inGroup?.commands.find(({ isDefault }) => isDefault))
  return {
    word,
    operands,
    flags,
    ...(inGroup && !second ? { group: inGroup } : {}),
    ...(command ? { command } : {}),
    ...(option === undefined ? {} : { option }),
  }
}

/** Flags of resources, which are loaded late, all take one. */
function takesValue(flag: string, commands: readonly (CommandDeclaration | CommandGroup)[]): boolean {
  const all = commands
    .flatMap((one) => ('commands' in one ? one.commands : [one]))
    .flatMap(({ options = [] }) => options)
  const known = [...commonOptions, ...all].filter(({ long }) => long === flag)
  return flag !== '--help' && (known.length === 0 || known.some(({ required }) => required))
}

function unquoted(word: string): string {
  return word.replace(/^(["'])(.*?)\1?$/s, '$2').replace(/\\(.)/gs, '$1')
}

/*
 * Short scripts of our own: those of libraries hand the candidates to `compgen -W` or `eval`, which run what stands in a name.
 */

/** Names are quoted as the word that they complete is, and left out where that cannot be. */
const bash = String.raw`_wynnsync() {
  local candidate quoted word=${'$'}{COMP_WORDS[COMP_CWORD]} unsafe='*[\\"$!${'`'}]*'
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    case $word in
      \"*) [[ $candidate == $unsafe ]] && continue; quoted=$candidate ;;
      \'*) [[ $candidate == *\'* ]] && continue; quoted=$candidate ;;
      *) printf -v quoted %q "$candidate" ;;
    esac
    COMPREPLY+=("$quoted")
  done < <(wynnsync __complete -- "${'$'}{COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _wynnsync wynnsync
`

const zsh = String.raw`#compdef wynnsync
_wynnsync() {
  local line
  local -a described
  while IFS= read -r line; do
    described+=("${'$'}{${'$'}{line%%$'\t'*}//:/\\:}:${'$'}{line#*$'\t'}")
  done < <(wynnsync __complete -- "${'$'}{(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#described )) && _describe wynnsync described || _files
}
compdef _wynnsync wynnsync
`

const fish = `complete -c wynnsync -f -a '(wynnsync __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish }

export const shells = Object.keys(scripts)

/** `completion <shell>`: prints its script. */
export async function completionCommand({ out }: Context, _flags: object, shell: string): Promise<void> {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script === undefined) throw new UsageError(`the shell must be ${shells.join(', ')}, got ${shell}`)
  out.write(script)
}

/** How long the database may take, ms: a person waits. */
const DATABASE_TIMEOUT_MS = 1000

type Commands = readonly (CommandDeclaration | CommandGroup)[]

/** `__complete -- <words>`: prints what may stand in place of the last word, with what it means. The exit code is 0. */
export function completeCommand(commands: Commands) {
  return async (context: Context, _flags: object, words: readonly string[]): Promise<void> => {
    const line = readLine(words, commands)
    const withSql = <T>(none: T, read: (sql: Sql) => Promise<T>) => onServer(context, line.flags, none, read)
    const found = await candidates(commands, line, withSql)
    // A name that cannot be typed as it is has no place in a command line.
    for (const { value, about = '' } of found.filter((one) => one.value.startsWith(line.word)))
      if (value === visibleLine(value)) context.out.write(`${value}\t${visibleLine(about)}\n`)
  }
}

async function candidates(
  commands: Commands,
  { word, group, command, option, operands }: ReturnType<typeof readLine>,
  withSql: Parameters<typeof operandsOf>[2],
): Promise<readonly Candidate[]> {
  if (option) return await valuesOf(option, word, withSql)
  const named = (list: readonly { usage: string; summary: string; isHidden?: boolean }[]) =>
    list.flatMap(({ usage, summary, isHidden }) =>
      isHidden ? [] : [{ value: usage.split(' ')[0] ?? '', about: summary }],
    )
  if (word.startsWith('-')) {
    const options = command ? await optionsOf(command) : []
    return [...options, { long: '--help', description: 'display help for command', hidden: false }].flatMap(
      ({ long, description, hidden }) => (long && !hidden ? [{ value: long, about: description }] : []),
    )
  }
  const within = group && operands.length === 0 ? named(group.commands) : []
  if (!command) return within.length > 0 ? within : named(commands)
  return [...within, ...(await operandsOf(command, { word, operands }, withSql))]
}

/** Reads from the server that is configured, or given on the line; `none` without one, or when it does not respond in time. */
async function onServer<T>(
  context: Context,
  flags: { readonly databaseUrl?: string },
  none: T,
  read: (sql: Sql) => Promise<T>,
): Promise<T> {
  try {
    const { app } = await createContext({ ...context.flags, ...flags, quiet: true }, context)
    // To open the embedded one takes seconds, and keeps every other process from it.
    if (app.config.databaseUrl === undefined) return none
    const limits = { signal: AbortSignal.timeout(DATABASE_TIMEOUT_MS), connectMs: DATABASE_TIMEOUT_MS }
    const db = await openDatabase(app, ['completion'], { ...limits, isBrief: true, shares: 'reads' })
    return await read(db).finally(() => db.close())
  } catch {
    return none
  }
}

/** Reads from the database, or gives `none` without one. */
type WithSql = <T>(none: T, read: (sql: Sql) => Promise<T>) => Promise<T>

/** As many as a terminal shows. */
const most = 200

/** What may stand for the value of a flag; nothing for numbers, files and such. */
async function valuesOf(flag: string, word: string, withSql: WithSql): Promise<readonly Candidate[]> {
  if (flag === '--log-level') return ['trace', 'debug', 'info', 'warn', 'error', 'silent'].map((value) => ({ value }))
  if (flag === '--dialect') return [{ value: 'live' }, { value: 'documented' }]
  return await named(flag.slice(2), word, withSql)
}

/** What may stand for the next operand of a command, by what its usage calls it. */
async function operandsOf(
  { usage }: CommandDeclaration,
  { word, operands }: { readonly word: string; readonly operands: readonly string[] },
  withSql: WithSql,
): Promise<readonly Candidate[]> {
  const places = [...usage.matchAll(/[<[]([a-z]+)(\.\.\.)?[>\]]/g)].map(([, name = '']) => name)
  const place = places[Math.min(operands.length, places.length - 1)]
  if (place === 'shell') return shells.map((value) => ({ value }))
  if (place === 'question') return topics.flatMap(({ title, names }) => names.map((value) => ({ value, about: title })))
  if (place === 'args') return await withSql([], (sql) => argumentsOf(sql, word, operands))
  return place === undefined ? [] : await named(place, word, withSql)
}

/** The names of what an argument of a question is about. */
async function argumentsOf(sql: Sql, word: string, [name, ...given]: readonly string[]): Promise<readonly Candidate[]> {
  const question = (await readQuestions(sql)).find((one) => one.name === name)
  if (!question) return []
  const isFunction = question.kind === 'function'
  const [, filter, value] = /^(\w+)=(.*)$/s.exec(word) ?? []
  const asked = isFunction ? question.parameters[given.length]?.name : (filter ?? nameColumn(question)?.name)
  const found =
    asked && (given.length === 0 || filter || isFunction)
      ? await named(asked, value ?? word, (_, read) => read(sql))
      : []
  if (filter) return found.map((one) => ({ ...one, value: `${filter}=${one.value}` }))
  return isFunction
    ? found
    : [...found, ...question.columns.map((one) => ({ value: `${one.name}=`, about: one.comment ?? '' }))]
}

/** Names of what is called `resource`, `guild`, `guild_uuid`, `player`, `territory`, ... */
async function named(what: string, word: string, withSql: WithSql): Promise<readonly Candidate[]> {
  const kind = what.replace(/_uuid$/, '')
  if (kind === 'resource')
    return (await import('../../../resources/index.ts')).resources.map(({ name }) => ({ value: name }))
  const { namesStarting } = await import('../../../resources/key-names.ts')
  const read = Object.hasOwn(namesStarting, kind) ? namesStarting[kind] : undefined
  return read ? await withSql([], (sql) => read(sql, word, most)) : []
}
