import { virtualClock } from '../../src/base/clock.ts'
import {
  createItemWorld,
  type Item,
  type ItemWorld,
  type SandboxOptions,
  startSandbox,
} from '../../src/sandbox/index.ts'
import { afterwards } from '../support/afterwards.ts'

/** 20 seconds and a half into a minute of June 2026. */
export const start = Date.parse('2026-06-01T12:00:20.500Z')

/** One generated world for all tests of a file. */
export const world: ItemWorld = createItemWorld(1)

/** The same world with only the first `count` items, so that a walk over its pages is short. */
export function smallWorld(count: number): ItemWorld {
  return { ...world, items: world.items.slice(0, count) }
}

/** One page of a collection. */
export interface PageBody {
  readonly controller: {
    readonly count: number
    readonly current_count: number
    readonly pages: number
    readonly prev: number | null
    readonly current: number
    readonly next: number | null
  }
  readonly results: readonly Item[]
}

/** Starts a sandbox that is closed after the test. Its clock stands still until the test moves it. */
export async function given(options: Partial<SandboxOptions> & { readonly at?: number } = {}) {
  const { at = start, ...rest } = options
  const clock = virtualClock(at)
  const sandbox = await startSandbox({ clock, items: world, ...rest })
  afterwards(() => sandbox.close())
  /** Asks for a path below the base path and parses the JSON answer. */
  async function get<Body = Record<string, unknown>>(path: string, init: RequestInit = {}) {
    const response = await fetch(sandbox.url + path, init)
    const text = await response.text()
    const body: Body = JSON.parse(text)
    return { status: response.status, headers: response.headers, text, body }
  }
  /** Follows the controller from the first page to the last. */
  async function walk(path: string) {
    const pages: PageBody[] = []
    let next: number | null = null
    do {
      const page: PageBody = (await get<PageBody>(next === null ? path : `${path}?page=${next}`)).body
      pages.push(page)
      next = page.controller.next
    } while (next !== null)
    return pages
  }
  return { sandbox, clock, get, walk }
}

/** The instant an answer speaks for: `Expires` minus `max-age`. */
export function producedAt(headers: Headers): string {
  const maxAge = Number(/max-age=(\d+)/.exec(headers.get('cache-control') ?? '')?.[1])
  return new Date(Date.parse(headers.get('expires') ?? '') - maxAge * 1000).toISOString()
}

/** The internal names of records, in their order. */
export function namesOf(records: readonly { readonly internalName: string }[]): string[] {
  return records.map((record) => record.internalName)
}
