import type { Option } from 'commander'
import type { Context } from './context.ts'

/** What a command does. @param flags by their names in camel case @returns the exit code; nothing: done */
type Implementation = (context: Context, flags: never, ...args: never[]) => Promise<number> | Promise<void>

/** Everything about a command but its implementation, which is loaded when the command is run. */
export interface CommandDeclaration {
  /** Name and arguments: `query [question] [args...]`. */
  readonly usage: string
  readonly summary: string
  /** Of a group: the command that is meant when none is named. */
  readonly isDefault?: boolean
  /** Left out of `--help`: for programs, and older names of others. */
  readonly isHidden?: boolean
  /** Flags besides those of every command. */
  readonly options?: readonly Option[]
  /** Flags that resources declare; loaded when the command is on the command line. */
  readonly loadOptions?: () => Promise<readonly Option[]>
  /** Text of `--help` below the flags. */
  readonly notes?: string
  readonly examples: readonly string[]
  /** Whether flags that do not exist are passed on as arguments. */
  readonly allowUnknownOptions?: boolean
  /** What `--json` prints where the command line or the configuration is wrong; nothing by default. */
  readonly jsonOfError?: (message: string) => object
  load(flags: Readonly<Record<string, unknown>>): Promise<Implementation>
}

/** Commands under one name: `auth login`, `auth logout`. */
export interface CommandGroup extends Pick<CommandDeclaration, 'usage' | 'summary' | 'notes' | 'examples'> {
  readonly commands: readonly CommandDeclaration[]
}
