import { Command, CommanderError, type OutputConfiguration } from 'commander'
import { version, versionWithCommit } from '../app/app.ts'
import { settingWarnings } from '../base/config.ts'
import { messageOf, UsageError } from '../base/errors.ts'
import { visibleLine } from '../base/terminal-text.ts'
import { didYouMean, nearest } from '../base/text/nearest.ts'
import type { CommandDeclaration, CommandGroup } from './command.ts'
import { type CommonFlags, type Context, createContext, type Terminal } from './context.ts'
import { dictionary, lake, mcp, query, report, serve, serveDb, watch } from './declarations/ask.ts'
import { auth, config, demo, init } from './declarations/begin.ts'
import {
  backup,
  doctor,
  migrate,
  move,
  privacy,
  quarantine,
  replay,
  restore,
  retract,
  runs,
  status,
  verify,
} from './declarations/look-after.ts'
import { completeOf, completion, sandbox, webKey } from './declarations/others.ts'
import { backfill, start, sync } from './declarations/record.ts'
import { exitCode, exitCodeOfError } from './exit-codes.ts'
import { commonOptions } from './options.ts'

export { interruption } from './context.ts'
export { openOutput } from './output/output.ts'

/** All commands, in the order of `--help`, by what they are for. */
const commandGroups: Readonly<Record<string, readonly (CommandDeclaration | CommandGroup)[]>> = {
  Begin: [demo, init, auth, config],
  Record: [sync, start, backfill],
  Ask: [query, report, dictionary, serve, mcp, serveDb, lake, watch],
  'Look after': [status, doctor, runs, quarantine, replay, retract, verify, backup, restore, migrate, move, privacy],
  Others: [sandbox, webKey, completion, completeOf(() => commands)],
}

export const commands: readonly (CommandDeclaration | CommandGroup)[] = Object.values(commandGroups).flat()

/**
 * Reads the command line, runs the command and returns its exit code. Writes errors to stderr and throws none of them.
 */
export async function runProgram(argv: readonly string[], terminal: Terminal): Promise<number> {
  // The command line may hold a password, and every user of the machine can read it.
  process.title = 'wynnsync'
  let code: number = exitCode.done
  try {
    const program = await createProgram(terminal, argv, (result) => {
      code = result
    })
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage
    const message = messageOf(error)
    // Only messages about the command line or the configuration have line breaks of their own.
    terminal.err.write(`wynnsync: ${error instanceof UsageError ? message : visibleLine(message)}\n`)
    return exitCodeOfError(error)
  }
}

type OnEnd = (exitCode: number) => void

async function createProgram(terminal: Terminal, argv: readonly string[], onEnd: OnEnd): Promise<Command> {
  const program = new Command('wynnsync')
    .description('Remembers what the Wynncraft web API forgets: syncs it into Postgres with full history.')
    .version(argv.some((one) => one === '--version' || one === '-V') ? versionWithCommit() : version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out.write(text), writeErr: (text) => terminal.err.write(text) })
    .configureOutput(suggesting(commands))
    .showHelpAfterError('(add --help for the flags and an example)')
    .addHelpText('after', helpOf(['npm run demo', 'wynnsync sync', 'wynnsync query item_change', 'wynnsync status']))
  for (const [title, members] of Object.entries(commandGroups)) {
    program.commandsGroup(`${title}:`)
    for (const declared of members) {
      if (!('commands' in declared)) await addCommand(program, declared, { terminal, argv, onEnd })
      else {
        const { usage, summary, examples, notes } = declared
        const group = program.command(usage).description(summary).addHelpText('after', helpOf(examples, notes))
        group.configureOutput(suggesting(declared.commands))
        for (const command of declared.commands) await addCommand(group, command, { terminal, argv, onEnd })
      }
    }
  }
  // It is of the last group, where commander would make one for it alone.
  return program.addHelpCommand(
    new Command('help').argument('[command]').description('display help for command').helpGroup('Others:'),
  )
}

async function addCommand(
  parent: Command,
  declared: CommandDeclaration,
  { terminal, argv, onEnd }: { terminal: Terminal; argv: readonly string[]; onEnd: OnEnd },
): Promise<void> {
  const { usage, summary, options = [], loadOptions, notes, examples, load } = declared
  const command = parent
    .command(usage, { isDefault: declared.isDefault === true, hidden: declared.isHidden === true })
    .description(summary)
    .allowUnknownOption(declared.allowUnknownOptions === true)
  const late = argv.includes(command.name()) ? await loadOptions?.() : undefined
  for (const option of [...commonOptions, ...options, ...(late ?? [])]) command.addOption(option)
  command.addHelpText('after', helpOf(examples, notes)).action(async (...given) => {
    const args: unknown[] = given.slice(0, -2)
    const flags = command.opts()
    const run = (await load(flags)) as (context: Context, ...rest: unknown[]) => Promise<number | undefined>
    let context: Context | undefined
    try {
      context = await createContext(command.optsWithGlobals<CommonFlags>(), terminal)
      const { log, config } = context.app
      if (!declared.isHidden) {
        const warnings = [...settingWarnings(undefined, undefined, context.flags), ...config.databaseWarnings]
        for (const warning of warnings) log.warn(warning)
      }
      const ended = await run(context, flags, ...args)
      onEnd(ended ?? exitCode.done)
    } catch (error) {
      context?.app.log.debug({ err: error }, 'the command failed')
      // Found before anything is printed: a program that reads the document gets one all the same.
      if (error instanceof UsageError && flags.json === true && declared.jsonOfError)
        terminal.out.write(`${JSON.stringify(declared.jsonOfError(error.message))}\n`)
      throw error
    } finally {
      context?.progress.stop()
    }
  })
}

/** Suggests the commands that an unknown one may mean. */
function suggesting(known: readonly { readonly usage: string }[]): OutputConfiguration {
  const names = known.map(({ usage }) => usage.split(' ')[0] ?? '')
  return {
    outputError: (text, write) => {
      const [line, word] = /^error: unknown command '(.*)'.*$/m.exec(text) ?? []
      // Instead of commander's own suggestion, which knows no beginnings.
      const end = line === undefined ? -1 : text.lastIndexOf('\n(add ')
      if (word === undefined) write(text)
      else
        write(`error: unknown command '${word}'${didYouMean(nearest(word, names))}${end < 0 ? '\n' : text.slice(end)}`)
    },
  }
}

function helpOf(examples: readonly string[], notes?: string): string {
  return `${notes ? `\n${notes}\n` : ''}\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}\n`
}
