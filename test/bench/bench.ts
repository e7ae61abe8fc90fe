import { cpus } from 'node:os'
import { formatTable } from '../../src/cli/output/table.ts'
import type { Bench } from './part.ts'
import { named, parts } from './parts/index.ts'
import { startPostgres } from './server.ts'
import { type Outcome, targetLine } from './target.ts'

/**
 * Runs the bench and prints its tables, the one of targets last. Its data is the same in every run.
 * @param options.only the parts wanted; none named: all but those that must be
 */
export async function bench(
  options: Pick<Bench, 'program' | 'folder' | 'extent'> & { only: readonly string[] },
): Promise<void> {
  const started = performance.now()
  const wanted = options.only.length > 0 ? options.only : Object.keys(parts).filter((name) => !named.includes(name))
  const unknown = wanted.filter((name) => !(name in parts))
  if (unknown.length > 0) throw new Error(`no part is called ${unknown.join(', ')}: ${Object.keys(parts).join(', ')}`)
  const postgres = await startPostgres()
  print(`Node ${process.version} on ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}; Postgres: ${postgres.taken}\n`)
  const outcomes: Outcome[] = []
  try {
    for (const name of wanted) {
      const run = parts[name]
      if (run) outcomes.push(...(await run({ ...options, createDatabase: postgres.createDatabase, say })))
    }
  } finally {
    await postgres.stop()
    if (outcomes.length > 0) say('Targets', outcomes.map(targetLine))
  }
  print(`\n${((performance.now() - started) / 1000).toFixed(0)} s in all\n`)
}

function say(title: string, rows: readonly object[]): void {
  print(`\n${title}\n${formatTable(Object.keys(rows[0] ?? {}), rows)}`)
}

function print(text: string): void {
  process.stdout.write(text)
}
