import { UsageError } from '../errors.ts'
import { type Sandbox, startSandbox } from '../sandbox/index.ts'
import { type Context, exitCode } from './context.ts'
import { wholeNumber } from './numbers.ts'

export interface SandboxFlags {
  readonly port?: string
  readonly dialect?: string
  readonly seed?: string
  readonly recordings?: string
  readonly pageSize?: string
}

/** `sandbox`: serves the stand-in of the API until it is told to stop. Returns the exit code. */
export async function sandboxCommand(flags: SandboxFlags, context: Context): Promise<number> {
  const { app, out, signal } = context
  const { dialect = 'live' } = flags
  if (dialect !== 'live' && dialect !== 'documented') {
    throw new UsageError(`--dialect wants live or documented, found ${dialect}`)
  }
  const sandbox = await startSandbox({
    clock: app.clock,
    dialect,
    port: flags.port === undefined ? 8080 : wholeNumber('--port', flags.port, 65_535),
    seed: flags.seed === undefined ? undefined : wholeNumber('--seed', flags.seed, 2 ** 32 - 1),
    pageSize: flags.pageSize === undefined ? undefined : wholeNumber('--page-size', flags.pageSize, 10_000),
    recordings: flags.recordings,
    tokens: app.config.token ? [app.config.token] : [],
  })
  out.write(context.flags.json ? `${JSON.stringify({ url: sandbox.url })}\n` : welcome(sandbox))
  await untilAborted(signal)
  await sandbox.close()
  return exitCode.done
}

function welcome({ url }: Sandbox): string {
  return `sandbox of the API at ${url}\ntry:  wynnsync sync items --base-url ${url}\nstop: Ctrl-C\n`
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
