import { cannotListen, codeOf } from '../../../base/errors.ts'
import { wholeNumber } from '../../../base/settings.ts'
import { openRecordings, type Sandbox, startSandbox } from '../../../sandbox/index.ts'
import { type Context, untilAborted, writeResult } from '../../context.ts'
import { instantFlag } from '../../options.ts'

interface SandboxFlags {
  readonly port?: string
  readonly dialect?: 'live' | 'documented'
  readonly seed?: string
  readonly recordings?: string
  readonly at?: string
  readonly speed?: string
  readonly pageSize?: string
  readonly faults?: string
}

/** `sandbox`: serves the simulated API until SIGTERM or Ctrl-C. */
export async function sandboxCommand(context: Context, flags: SandboxFlags): Promise<void> {
  const { clock, config } = context.app
  const { dialect = 'live', port = '8080', recordings, faults, seed, pageSize, speed } = flags
  const sandbox = await startSandbox({
    clock,
    dialect,
    recordings,
    faults,
    port: wholeNumber('--port', port, 65_535),
    seed: seed === undefined ? undefined : wholeNumber('--seed', seed, 2 ** 32 - 1),
    pageSize: pageSize === undefined ? undefined : wholeNumber('--page-size', pageSize, 10_000),
    startAt: startOf(flags, context),
    speed: speed === undefined ? undefined : Math.max(1, wholeNumber('--speed', speed, 100_000)),
    tokens: config.token ? [config.token] : [],
  }).catch((error: unknown) => {
    if (codeOf(error) !== 'EADDRINUSE') throw error
    throw cannotListen(error, { host: '127.0.0.1', port: Number(port), flag: '--port' })
  })
  writeResult(context, { url: sandbox.url }, welcome(sandbox, flags))
  await untilAborted(context)
  await sandbox.close()
}

/** When its time begins, ms since the epoch: `--at`, the first recorded item database, or undefined for now. */
function startOf({ at, recordings }: SandboxFlags, { app }: Context): number | undefined {
  if (at !== undefined || recordings === undefined) return instantFlag('--at', at, app)?.getTime()
  const recorded = openRecordings(recordings)
  return recorded.firstInstant('/item/database') ?? recorded.firstInstant()
}

/** So that nothing made up gets into the history of the real game, and no login of a sandbox replaces a real one. */
const sandboxData = './sandbox-data'

function welcome({ url, clock }: Sandbox, { recordings, at, speed }: SandboxFlags): string {
  // In another time than this machine's, its own `Date` decides when a response was made.
  const isElsewhere = [recordings, at, speed].some((flag) => flag !== undefined)
  const clockSetting = isElsewhere ? 'WYNNSYNC_CLOCK=api ' : ''
  const control = url.replace(/v3$/, '__sandbox')
  const step = recordings === undefined ? '{"advanceSeconds":3600}' : '{"next":"/item/database"}'
  return `sandbox of the API at ${url}
time: ${new Date(clock.now()).toISOString()}; move it with (and then sync with WYNNSYNC_CLOCK=api)
      curl -X PUT ${control}/clock -d '${step}'
try, in a second terminal:
      ${clockSetting}wynnsync sync territories guild-list --base-url ${url} --data-dir ${sandboxData}
      WYNNSYNC_CREDENTIALS=${sandboxData}/credentials.json wynnsync auth login --client-id sandbox --base-url ${url}
stop: Ctrl-C
`
}
