import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../', import.meta.url))

/**
 * What `WYNNSYNC_TEST_PART` chooses: `quick` is `npm test`, `rest` is what it leaves out, and without it all runs. The quick
 * part has every correctness rule on a server database, within four minutes; the rest has long simulations, kills at many
 * instants, packed and deployed forms, more cases of what has a cheap one, and the embedded database where the quick part
 * tries only the server. `fresh` plays the random tests from new seeds, once each.
 */
export type Part = 'quick' | 'rest' | 'fresh' | 'all'

/** @throws Error for another value */
export function chosenPart(value = process.env.WYNNSYNC_TEST_PART || 'all'): Part {
  if (value === 'quick' || value === 'rest' || value === 'fresh' || value === 'all') return value
  throw new Error(`WYNNSYNC_TEST_PART must be quick, rest, fresh or all, not ${value}`)
}

/** Test files that the quick part leaves out: each takes long, and what it holds is held by a cheaper one as well. */
export const slow: readonly string[] = [
  'questions/any-settings.test.ts',
  'questions/extremes.test.ts',
  'report/report-browser.test.ts',
  'questions/true-content.test.ts',
  'questions/true-gains.test.ts',
  'questions/true-game.test.ts',
  'api/budget-simulated.test.ts',
  'api/packed.test.ts',
  'api/wrong-limits.test.ts',
  'bench/year.test.ts',
  'cli/backfill-git.test.ts',
  'cli/git-layouts.test.ts',
  'cli/backfill-kill.test.ts',
  'cli/demo.test.ts',
  'cli/held-folder.test.ts',
  'cli/help-examples.test.ts',
  'cli/hostile-text.test.ts',
  'cli/live-polls.test.ts',
  'cli/move.test.ts',
  'cli/origin.test.ts',
  'cli/outage.test.ts',
  'cli/proxy.test.ts',
  'cli/read-only.test.ts',
  'cli/readers.test.ts',
  'cli/start-copies.test.ts',
  'cli/unwritable.test.ts',
  'db/cluster-template.test.ts',
  'db/embedded-copies.test.ts',
  'db/embedded-thread.test.ts',
  'db/embedded.test.ts',
  'db/migrate.test.ts',
  'db/move.test.ts',
  'db/power-cut.test.ts',
  'db/releases.test.ts',
  'db/upgrades.test.ts',
  'db/replication.test.ts',
  'db/shared-folder.test.ts',
  'deploy/compose.test.ts',
  'deploy/release.test.ts',
  'deploy/scheduled.test.ts',
  'docs/first-day.test.ts',
  'docs/site.test.ts',
  'end-to-end/faults/command.test.ts',
  'end-to-end/faults/each.test.ts',
  'end-to-end/faults/mixed.test.ts',
  'end-to-end/fuzz/fuzz.test.ts',
  'end-to-end/interleavings.test.ts',
  'end-to-end/unattended/bad-day.test.ts',
  'end-to-end/unattended/day.test.ts',
  'end-to-end/unattended/hostile.test.ts',
  'end-to-end/unattended/month.test.ts',
  'lake/crafted.test.ts',
  'lake/every-question.test.ts',
  'lake/every-resource.test.ts',
  'lake/export.test.ts',
  'lake/follow-rows.test.ts',
  'lake/follow.test.ts',
  'lake/import-command.test.ts',
  'lake/import-kill.test.ts',
  'lake/import.test.ts',
  'lake/many-gaps.test.ts',
  'lake/merge.test.ts',
  'lake/one-file.test.ts',
  'lake/spark.test.ts',
  'lake/start-lake.test.ts',
  'lake/sync-after-import.test.ts',
  'lake/wide-rows.test.ts',
  'resources/player-truth.test.ts',
  'resources/recorded-guild-series.test.ts',
  'resources/recorded-items.test.ts',
  'resources/recorded-others.test.ts',
  'resources/recorded-territories.test.ts',
  'resources/simulated-game.test.ts',
  'retention/bounds.test.ts',
  'retention/growth.test.ts',
  'sandbox/game/cost.test.ts',
  'monitoring/watches-kill.test.ts',
  'sandbox/game/history.test.ts',
  'sync/git-parts.test.ts',
  'sync/backfill-recordings.test.ts',
  'sync/budget-kill.test.ts',
  'sync/budget-shared.test.ts',
  'sync/kill.test.ts',
  'sync/refusals-attacks.test.ts',
  'sync/weeks.test.ts',
  'web/export.test.ts',
  'web/pages-browser.test.ts',
  'web/site-browser.test.ts',
]

/** For `describe.each` and `test.each`: what the quick part tries, what the rest tries, or both where all runs. */
export function ofPart<T>(cases: { readonly quick: readonly T[]; readonly rest: readonly T[] }): readonly T[] {
  const part = chosenPart()
  if (part === 'all') return [...cases.quick, ...cases.rest]
  return part === 'fresh' ? cases.quick : cases[part]
}

/** Whether the quick part runs some tests of a file, and the rest others. */
const isInBoth = (file: string) => /\b(kindsOfPart|ofPart)\b/.test(textOf(file)) || seedsKept(file) > 1
const isRandom = (file: string) => /\bseedsOf\(/.test(textOf(file))
const seedsKept = (file: string) => JSON.parse(textOf('seeds.json'))[`test/${file}`]?.length ?? 0
const textOf = (file: string) => readFileSync(join(folder, file), 'utf8')

/**
 * Names of the test files of a part, as paths below `test`.
 * @throws Error when `slow` names a file that is not there
 */
export function filesOf(part: Part): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'))
  const missing = slow.filter((file) => !files.includes(file))
  if (missing.length > 0) throw new Error(`test/support/parts.ts names what is not there: ${missing.join(', ')}`)
  if (part === 'fresh') return files.filter(isRandom)
  if (part === 'quick') return files.filter((file) => !slow.includes(file))
  return part === 'all' ? files : files.filter((file) => slow.includes(file) || isInBoth(file))
}
