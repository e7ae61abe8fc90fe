import { type Command, Option } from 'commander'
import type { Context } from './context.ts'

/** Runs what a command does in its surroundings, and keeps the exit code. */
export type Run = (command: Command, action: (context: Context) => Promise<number>) => Promise<void>

/** A command with the flags that every command has. */
export function command(program: Command, usage: string, description: string): Command {
  return program
    .command(usage)
    .description(description)
    .copyInheritedSettings(program)
    .option('--database-url <url>', 'PostgreSQL server; without one an embedded database is used (DATABASE_URL)')
    .option('--data-dir <folder>', 'where the embedded database lives (WYNNSYNC_DATA_DIR)')
    .option('--base-url <url>', 'where the API is (WYNNSYNC_BASE_URL)')
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent (WYNNSYNC_LOG_LEVEL)')
    .option('--json', 'the answer as one JSON document on stdout')
    .option('--quiet', 'only errors')
}

/** Gathers a flag that may be given several times. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value]
}

/** The flag of every command that asks the API. */
export function concurrency(): Option {
  return new Option('--concurrency <number>', 'requests in flight per rate-limit bucket (default: 4)')
}

/** The end of a help text. */
export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`
}
