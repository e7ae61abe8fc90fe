import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../', import.meta.url))

/**
 * What `WYNNSYNC_TEST_PART` chooses; without it all runs. `quick` is `npm test`: every correctness rule on a server database. `rest` follows
 * it in `.ci/run`: commands, pages, the lake, the sandbox, the packed form, and the embedded database where the quick part tries only the server. `long` is
 * what the nightly workflow runs. `fresh` plays the random tests from new seeds, once each.
 */
export type Part = (typeof parts)[number]

const parts = ['quick', 'rest', 'long', 'fresh', 'all'] as const

/** @throws Error for another value */
export function chosenPart(value = process.env.WYNNSYNC_TEST_PART || 'all'): Part {
  const part = parts.find((one) => one === value)
  if (part === undefined) throw new Error(`WYNNSYNC_TEST_PART must be one of ${parts.join(', ')}, not ${value}`)
  return part
}

/** Whether a run is one of a whole part: so many test files are more than one names on a command line. */
export const isWhole = (files: readonly unknown[]): boolean => files.length > 50

/** What stands around recording and answering: its tests belong to the rest. */
const laterFolders = ['cli/', 'deploy/', 'lake/', 'sandbox/', 'web/']

/** Files of these folders that hold a correctness rule, or a bound of the program itself. */
const soon: readonly string[] = [
  'cli/bundle.test.ts',
  'cli/compiled-code.test.ts',
  'cli/flags.test.ts',
  'cli/resets.test.ts',
  'web/unknown-now.test.ts',
  'web/unwatched-periods.test.ts',
]

/** Other test files that the quick part leaves out. */
const laterFiles: readonly string[] = [
  'api/packed.test.ts',
  'api/python-client.test.ts',
  'db/copy.test.ts',
  'db/database.test.ts',
  'db/embedded-thread.test.ts',
  'db/embedded.test.ts',
  'db/folder-lock.test.ts',
  'db/housekeeping.test.ts',
  'db/migrate.test.ts',
  'db/pgwire.test.ts',
  'db/remote-engine.test.ts',
  'db/turns.test.ts',
  'docs/json-schemas.test.ts',
  'monitoring/metrics.test.ts',
  'monitoring/prometheus.test.ts',
  'monitoring/proxy.test.ts',
  'monitoring/webhook.test.ts',
  'questions/bounded-questions.test.ts',
  'questions/counts-over-gaps.test.ts',
  'questions/plans.test.ts',
  'questions/random-contribution.test.ts',
  'questions/reader.test.ts',
  'questions/recorded.test.ts',
  'questions/true-rises.test.ts',
  'report/report.test.ts',
  'resources/any-share-of-answers.test.ts',
  'resources/class-by-class.test.ts',
  'resources/doubted-members.test.ts',
  'resources/every-resource.test.ts',
  'resources/leaderboards.test.ts',
  'resources/older-items.test.ts',
  'resources/recorded-guild-gap.test.ts',
  'resources/recorded-guilds.test.ts',
  'resources/recorded-others.test.ts',
  'resources/recorded-territories.test.ts',
  'resources/world-content.test.ts',
  'retention/ahead-guilds.test.ts',
  'retention/ahead.test.ts',
  'retention/upgrade.test.ts',
  'sync/backfill-partial.test.ts',
  'sync/backfill-recorded.test.ts',
  'sync/backfill.test.ts',
  'sync/coverage-compact.test.ts',
  'sync/path-of-a-response.test.ts',
  'sync/replay.test.ts',
  'sync/restricted-in-mass.test.ts',
  'sync/retract.test.ts',
  'sync/schedule.test.ts',
  'sync/unsent-member-fields.test.ts',
  'sync/verify.test.ts',
  'sync/volatile-fields.test.ts',
]

/** Test files that take long: simulations, kills at many instants, attacks, deployed forms. What each of them holds is held by a cheaper one as well. */
const long: readonly string[] = [
  'api/budget-simulated.test.ts',
  'api/wrong-limits.test.ts',
  'bench/year.test.ts',
  'cli/backfill-git.test.ts',
  'cli/backfill-kill.test.ts',
  'cli/demo.test.ts',
  'cli/git-damaged.test.ts',
  'cli/git-layouts.test.ts',
  'cli/held-folder.test.ts',
  'cli/help-examples.test.ts',
  'cli/live-polls.test.ts',
  'cli/memory.test.ts',
  'cli/move.test.ts',
  'cli/origin.test.ts',
  'cli/outage.test.ts',
  'cli/proxy.test.ts',
  'cli/readers.test.ts',
  'cli/start-copies.test.ts',
  'cli/unwritable.test.ts',
  'db/cluster-template.test.ts',
  'db/embedded-copies.test.ts',
  'db/move.test.ts',
  'db/power-cut.test.ts',
  'db/releases.test.ts',
  'db/replication.test.ts',
  'db/shared-folder.test.ts',
  'db/shared-turns.test.ts',
  'db/upgrades.test.ts',
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
  'lake/backup.test.ts',
  'lake/bucket-faults.test.ts',
  'lake/crafted-size.test.ts',
  'lake/crafted.test.ts',
  'lake/damaged-lists.test.ts',
  'lake/every-question.test.ts',
  'lake/every-resource.test.ts',
  'lake/export.test.ts',
  'lake/follow-ledger.test.ts',
  'lake/follow-less.test.ts',
  'lake/follow-random.test.ts',
  'lake/follow-rows.test.ts',
  'lake/follow.test.ts',
  'lake/following.test.ts',
  'lake/import-command.test.ts',
  'lake/import-kill.test.ts',
  'lake/import.test.ts',
  'lake/many-gaps.test.ts',
  'lake/merge.test.ts',
  'lake/one-file.test.ts',
  'lake/other-database.test.ts',
  'lake/s3-faults.test.ts',
  'lake/spark.test.ts',
  'lake/sync-after-import.test.ts',
  'lake/unread-keys.test.ts',
  'lake/verify-places.test.ts',
  'monitoring/watches-kill.test.ts',
  'questions/any-settings.test.ts',
  'questions/extremes.test.ts',
  'questions/true-content.test.ts',
  'questions/true-gains.test.ts',
  'questions/true-game.test.ts',
  'report/report-browser.test.ts',
  'resources/player-truth.test.ts',
  'resources/recorded-guild-series.test.ts',
  'resources/recorded-items.test.ts',
  'resources/simulated-game.test.ts',
  'retention/bounds.test.ts',
  'retention/growth.test.ts',
  'sandbox/game/cost.test.ts',
  'sandbox/game/history.test.ts',
  'sync/backfill-recordings.test.ts',
  'sync/budget-kill.test.ts',
  'sync/budget-shared.test.ts',
  'sync/git-detect.test.ts',
  'sync/git-kinds.test.ts',
  'sync/git-many.test.ts',
  'sync/git-parts.test.ts',
  'sync/git-states.test.ts',
  'sync/kill.test.ts',
  'sync/refusals-attacks.test.ts',
  'sync/restriction-attacks.test.ts',
  'sync/weeks.test.ts',
  'web/each-path.test.ts',
  'web/export.test.ts',
  'web/page-size.test.ts',
  'web/site-browser.test.ts',
  'web/site-pages.test.ts',
  'web/sorted-tables.test.ts',
]

const isLater = (file: string): boolean =>
  !long.includes(file) &&
  (laterFiles.includes(file) || (laterFolders.some((folder) => file.startsWith(folder)) && !soon.includes(file)))

/**
 * For `describe.each` and `test.each` of a file that the quick part runs: what that tries, what the rest tries, and what the long part tries, where
 * that differs from both. Files of the long part alone try all.
 */
export function ofPart<T>(cases: {
  readonly quick: readonly T[]
  readonly rest: readonly T[]
  readonly long?: readonly T[]
}): readonly T[] {
  const part = chosenPart()
  const both = [...cases.quick, ...cases.rest]
  if (part === 'all') return [...new Set([...both, ...(cases.long ?? [])])]
  if (part === 'long') return cases.long ?? both
  return part === 'fresh' ? cases.quick : cases[part]
}

/** Whether the quick part runs some tests of a file, and the rest others. */
const hasCasesOfParts = (file: string) => /\b(kindsOfPart|ofPart)\b/.test(textOf(file))
/** Whether the long part runs a file of another part on the other database. */
const hasCasesAtNight = (file: string) => /\bkindsAtNight\b/.test(textOf(file))
const isRandom = (file: string) => /\bseedsOf\(/.test(textOf(file))
const seedsKept = (file: string) => JSON.parse(textOf('seeds.json'))[`test/${file}`]?.length ?? 0
const textOf = (file: string) => readFileSync(join(folder, file), 'utf8')

/**
 * Names of the test files of a part, as paths below `test`.
 * @throws Error when a list above names a file that is not there, one of the rest alone that has cases of parts, or one of the
 * long part alone that leaves cases to it
 */
export function filesOf(part: Part): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'))
  const wrong = [
    ...[...soon, ...laterFiles, ...long].filter((file) => !files.includes(file)),
    ...files.filter((file) => isLater(file) && hasCasesOfParts(file)),
    ...long.filter(hasCasesAtNight),
  ]
  if (wrong.length > 0) throw new Error(`test/support/parts.ts names what it must not: ${wrong.join(', ')}`)
  if (part === 'all') return files
  if (part === 'fresh') return files.filter(isRandom)
  const isAtNight = (file: string) => long.includes(file) || hasCasesAtNight(file) || seedsKept(file) > 1
  if (part === 'long') return files.filter(isAtNight)
  const isQuick = (file: string) => !isLater(file) && !long.includes(file)
  if (part === 'quick') return files.filter(isQuick)
  const hasMore = (file: string) => (hasCasesOfParts(file) && !hasCasesAtNight(file)) || seedsKept(file) > 1
  return files.filter((file) => isLater(file) || (isQuick(file) && hasMore(file)))
}
