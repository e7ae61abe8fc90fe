import { openDatabase } from '../../../app/app.ts'
import { visibleLine } from '../../../base/terminal-text.ts'
import type { Sql } from '../../../db/database.ts'
import type { CommandDeclaration, CommandGroup } from '../../command.ts'
import { type Context, createContext } from '../../context.ts'
import { type Candidate, optionsOf, readLine } from './command-line.ts'
import { operandsOf, valuesOf } from './known-words.ts'

/** How long the database may take, ms: a person waits. */
const LONGEST = 1000

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
    const limits = { signal: AbortSignal.timeout(LONGEST), connectMs: LONGEST }
    const db = await openDatabase(app, ['completion'], { ...limits, isBrief: true, shares: 'reads' })
    return await read(db).finally(() => db.close())
  } catch {
    return none
  }
}
