import { type App, createApp } from '../app/app.ts'
import { type ConfigFlags, givenSettings, readConfig, type SettingChecks } from '../app/config.ts'
import { RetryableError } from '../app/errors.ts'
import type { Output } from './output/output.ts'
import { noProgress, type Progress, progressBar, progressLines } from './output/progress.ts'

/** Flags that every command has. */
export interface CommonFlags extends ConfigFlags {
  readonly json?: boolean
  readonly quiet?: boolean
}

/** The outside of a command: where it writes, and what ends it early. */
export interface Terminal {
  readonly out: Output
  readonly err: Output
  readonly signal: AbortSignal
  /** From then on a signal ends the process, as it does by default. */
  restoreSignals?(): void
}

/** A command's surroundings: the app, and how to show what happens. */
export interface Context extends Terminal {
  readonly app: App
  readonly progress: Progress
  readonly flags: CommonFlags
}

/** Exit codes of the public contract. */
export const exitCode = { done: 0, failed: 1, usage: 2, rejected: 3, tryLater: 75 } as const

/** What knows the names of resources and tables is loaded only for settings that name some. */
async function checksFor(flags: CommonFlags): Promise<SettingChecks> {
  const { WYNNSYNC_SCHEDULE, WYNNSYNC_RETENTION, WYNNSYNC_RAW_DAYS, WYNNSYNC_PLAUSIBLE_SHARE } = givenSettings(flags)
  const texts = [WYNNSYNC_SCHEDULE, WYNNSYNC_RETENTION, WYNNSYNC_RAW_DAYS, WYNNSYNC_PLAUSIBLE_SHARE]
  return texts.some((text) => text?.includes('=')) || WYNNSYNC_SCHEDULE || WYNNSYNC_RETENTION
    ? (await import('./config-checks.ts')).settingChecks
    : {}
}

/** @throws UsageError that names everything that is wrong with the configuration */
export async function createContext(flags: CommonFlags, terminal: Terminal): Promise<Context> {
  const config = readConfig(flags, undefined, undefined, await checksFor(flags))
  const onTerminal = terminal.err.isTTY
  // On a terminal the bar and the closing table tell the story; plain lines are for log files.
  const app = createApp(config, {
    logLevel: flags.quiet ? 'error' : onTerminal && !flags.logLevel ? 'warn' : config.logLevel,
  })
  const progress = flags.quiet ? noProgress : onTerminal ? progressBar(app.clock) : progressLines(app.clock, app.log)
  return { ...terminal, app, progress, flags }
}

/** Why a command stops when it is told to; trying again later is worth it. */
export function interruption(signal: NodeJS.Signals): RetryableError {
  return new RetryableError(`interrupted by ${signal}`)
}
