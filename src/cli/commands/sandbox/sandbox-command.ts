import { UsageError } from '../../../app/errors.ts'
import { wholeNumber } from '../../../app/whole-number.ts'
import { openRecordings, type Sandbox, startSandbox } from '../../../sandbox/index.ts'
import { type Context, exitCode } from '../../context.ts'

export interface SandboxFlags {
  readonly port?: string
  readonly dialect?: string
  readonly seed?: string
  readonly recordings?: string
  readonly at?: string
  readonly speed?: string
  readonly pageSize?: string
  readonly faults?: string
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
    startAt: startOf(flags),
    faults: flags.faults,
    speed: flags.speed === undefined ? undefined : Math.max(1, wholeNumber('--speed', flags.speed, 100_000)),
    tokens: app.config.token ? [app.config.token] : [],
  })
  out.write(context.flags.json ? `${JSON.stringify({ url: sandbox.url })}\n` : welcome(sandbox, flags))
  await untilAborted(signal)
  await sandbox.close()
  return exitCode.done
}

/** When its time begins: as asked, or with the first recorded item database, or now. */
function startOf({ at, recordings }: SandboxFlags): number | undefined {
  if (at !== undefined) {
    const instant = Date.parse(at)
    if (Number.isNaN(instant)) throw new UsageError(`--at wants an instant such as 2026-05-01T08:00:00Z, found ${at}`)
    return instant
  }
  if (recordings === undefined) return undefined
  const recorded = openRecordings(recordings)
  return recorded.firstInstant('/item/database') ?? recorded.firstInstant()
}

function welcome({ url, clock }: Sandbox, { recordings }: SandboxFlags): string {
  const control = url.replace(/v3$/, '__sandbox')
  const step = recordings === undefined ? '{"advanceSeconds":3600}' : '{"next":"/item/database"}'
  return `sandbox of the API at ${url}
time: ${new Date(clock.now()).toISOString()}; move it with
      curl -X PUT ${control}/clock -d '${step}'
try:  wynnsync sync items --base-url ${url}
      wynnsync auth login --client-id sandbox --base-url ${url}
stop: Ctrl-C
`
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
