/** How far the long tests go: little in CI, all of it on request. */
export const effort = {
  /** Hours of the simulated game that are played. */
  gameHours: Number(process.env.WYNNSYNC_TEST_HOURS ?? 1),
  /** Minutes of a simulated stretch of unattended life. */
  unattendedMinutes: Number(process.env.WYNNSYNC_TEST_UNATTENDED_MINUTES ?? 5),
  /** The same of one on which everything fails. */
  badMinutes: Number(process.env.WYNNSYNC_TEST_UNATTENDED_MINUTES ?? 3),
  /** Simulated hours of `start` in which nothing may grow; 720 for a month. */
  monthHours: Number(process.env.WYNNSYNC_TEST_MONTH_HOURS ?? (process.env.WYNNSYNC_TEST_FULL === '1' ? 720 : 5)),
  /** Every recorded answer and not only the typical ones, every fault alone, every kind of unattended day. */
  everyAnswer: process.env.WYNNSYNC_TEST_FULL === '1',
  /** Days of the history that Spark reads; 365 for a year. */
  sparkDays: Number(process.env.WYNNSYNC_TEST_SPARK_DAYS ?? 365),
  /** Power cuts of the embedded database; 200 for all. */
  powerCuts: Number(process.env.WYNNSYNC_TEST_POWER_CUTS ?? (process.env.WYNNSYNC_TEST_FULL === '1' ? 200 : 8)),
  /** Kills of a `start` with watches and streams; 100 for all. */
  watchKills: Number(process.env.WYNNSYNC_TEST_WATCH_KILLS ?? (process.env.WYNNSYNC_TEST_FULL === '1' ? 100 : 3)),
  /** Mutated responses that are played, each followed by a good one. */
  mutations: Number(process.env.WYNNSYNC_TEST_MUTATIONS ?? (process.env.WYNNSYNC_TEST_FULL === '1' ? 100_000 : 600)),
  mutatedResources: process.env.WYNNSYNC_TEST_MUTATION_RESOURCES?.split(','),
  /** Guilds of the backfill that is killed again and again; 20000 for all of a game. */
  backfillGuilds: Number(process.env.WYNNSYNC_TEST_GUILDS ?? 60),
  /** Minutes of hostile requests beside `start`; 60 for an hour, 0 for none. */
  hostileMinutes: Number(
    process.env.WYNNSYNC_TEST_HOSTILE_MINUTES ?? (process.env.WYNNSYNC_TEST_FULL === '1' ? 60 : 0),
  ),
  /** Path of a Prometheus, such as /usr/bin/prometheus, that scrapes a `start`; empty: none does. */
  prometheus: process.env.WYNNSYNC_TEST_PROMETHEUS ?? '',
  /** For how many seconds; 600 seconds of the sandbox pass in each. */
  prometheusSeconds: Number(process.env.WYNNSYNC_TEST_PROMETHEUS_SECONDS ?? 30),
} as const
