import { virtualClock } from '../../src/base/clock.ts'
import { type ItemWorld, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts'
import { afterwards } from './afterwards.ts'
import { instantOf } from './world.ts'

const nothing: ItemWorld = { items: [], recipes: [], sets: {} }

/** A simulated API for child processes, closed after the test. Its clock stands still until the test moves it. */
export async function servedApi(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const limits = { guest: 100_000, token: 100_000 }
  const sandbox = await startSandbox({ clock: virtualClock(instantOf('10:00')), items: nothing, limits, ...options })
  afterwards(() => sandbox.close())
  return sandbox
}

/** From now on the API answers `/item/database` with these items. */
export function serveItems(sandbox: Sandbox, items: readonly object[]): void {
  sandbox.setAnswer('/item/database', () => ({ body: items }))
}
