import { subscribe } from 'node:diagnostics_channel'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import type { Reporter } from 'vitest/node'
import { isRetryable } from '../../src/api/http/classify-response.ts'
import { policiesOf } from '../../src/sync/evidence/policies.ts'
import { chosenPart, isWhole } from './parts.ts'

/* Which of the ways that few runs take the tests have taken: guards, claims, repeated requests, recoveries. */

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'node_modules/.cache/wynnsync-reached')
const counts = new Map<string, number>()
let isPaused = false

/** Counts in this worker; called for each test file, subscribes once. */
export function countReached(): void {
  const worker = globalThis as { countsReached?: boolean }
  if (worker.countsReached) return
  worker.countsReached = true
  subscribe('wynnsync:reached', (way) => {
    if (!isPaused) counts.set(String(way), (counts.get(String(way)) ?? 0) + 1)
  })
}

/** For tests that call a mechanism directly, which does not show that the program uses it. */
export function pauseReached(pause: boolean): void {
  isPaused = pause
}

/** Writes down what this worker has counted so far. */
export function keepReached(): void {
  if (counts.size === 0) return
  mkdirSync(folder, { recursive: true })
  const file = `${chosenPart()}-${process.pid}-${threadId}.json`
  writeFileSync(join(folder, file), JSON.stringify(Object.fromEntries(counts)))
}

/** Forgets what earlier runs of a part counted. */
export function forgetReached(): void {
  for (const file of keptFiles()) if (file.startsWith(`${chosenPart()}-`)) rmSync(join(folder, file))
}

const parts = ['quick-', 'rest-', 'long-']

/** How often the last runs of the three parts took each way; undefined while one of them has not run. */
function readReached(): Map<string, number> | undefined {
  const files = keptFiles()
  if (!parts.every((part) => files.some((file) => file.startsWith(part)))) return undefined
  const sum = new Map<string, number>()
  for (const file of files.filter((file) => parts.some((part) => file.startsWith(part)))) {
    const of: Record<string, number> = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    for (const [way, count] of Object.entries(of)) sum.set(way, (sum.get(way) ?? 0) + count)
  }
  return sum
}

/** At the end of the whole long part, after both others: prints how often each way was taken, and fails where one was not. */
export const reachedReporter: Reporter = {
  onTestRunEnd(modules) {
    const reached = chosenPart() === 'long' && isWhole(modules) ? readReached() : undefined
    if (reached === undefined) return
    const ways = waysThere().map((way) => ({ way, times: reached.get(way) ?? 0 }))
    for (const { way, times } of ways) process.stdout.write(`${String(times).padStart(8)}  ${way}\n`)
    const missing = ways.filter(({ times }) => times === 0)
    if (missing.length === 0) return
    process.stderr.write(`no test took these ways: ${missing.map(({ way }) => way).join('; ')}\n`)
    process.exitCode = 1
  },
}

function keptFiles(): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** All that there are: what the sources name, each policy made and confirmed, each fault that is worth another request. */
function waysThere(): string[] {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
  const named = sources.flatMap((text) => [...text.matchAll(/\breach\('([^']+)'\)/g)].map(([, way = '']) => way))
  const guards = sources.flatMap((text) =>
    [...text.matchAll(/guard: '([^']+)',\s+action: '([^']+)'/g)].map(
      ([, guard, action]) => `guard ${guard}: ${action}`,
    ),
  )
  const claims = Object.keys(policiesOf({ absences: 2 })).flatMap((name) => [
    `claim ${name}: made`,
    `claim ${name}: confirmed`,
  ])
  const failures = readFileSync(join(root, 'src/api/http/outcome.ts'), 'utf8')
  const [, kinds = ''] = /type FailureKind =\n([\s\S]*?)\n\n/.exec(failures) ?? []
  const requests = [...kinds.matchAll(/'([^']+)'/g)].map(([, kind = '']) => {
    // These two come with a status, which says that another request would end the same way.
    const isRepeated =
      !['gateway', 'redirect'].includes(kind) && isRetryable(null, kind as Parameters<typeof isRetryable>[1])
    return `request ${kind}: ${isRepeated ? 'repeated' : 'given up'}`
  })
  const statuses = ['request 429: repeated', 'request 429: given up', 'request 503: repeated', 'request 404: given up']
  return [...new Set([...named, ...guards, ...claims, ...requests, ...statuses])].sort()
}
