import type { Bucket, Credential } from './request-budget.ts'

/** One request as the sandbox saw it. Never holds a credential, only its kind. */
export interface LogEntry {
  /** Sandbox clock, ms since the epoch. */
  readonly at: number
  readonly method: string
  /** Below the base path. */
  readonly path: string
  /** Without `?`. */
  readonly query: string
  readonly status: number
  readonly bucket: Bucket
  readonly credentialKind: Credential['kind']
}

/** The newest requests, and counts of all of them. @param keep how many entries stay in memory; the counts are kept for ever */
export function createJournal(keep = 20_000) {
  const entries: LogEntry[] = []
  const byPath = new Map<string, Map<string, number>>()
  let total = 0
  return {
    entries,
    write(entry: LogEntry): void {
      entries.push(entry)
      // In batches, because removing from the front moves every entry.
      if (entries.length >= keep * 2) entries.splice(0, keep)
      const counts = byPath.get(entry.path) ?? new Map<string, number>()
      counts.set(String(entry.status), (counts.get(String(entry.status)) ?? 0) + 1)
      byPath.set(entry.path, counts)
      total += 1
    },
    /** `{total, byPath: {path: {status: n}}}` of everything ever written. */
    counts: () => ({
      total,
      byPath: Object.fromEntries([...byPath].map(([path, counts]) => [path, Object.fromEntries(counts)])),
    }),
  }
}

export type Journal = ReturnType<typeof createJournal>
