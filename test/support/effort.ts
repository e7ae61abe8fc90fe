/** How far the long tests go: little in CI, all of it when somebody asks for it. */
export const effort = {
  /** Hours of the simulated game that are played. */
  gameHours: Number(process.env.WYNNSYNC_TEST_HOURS ?? 1),
  /** Replay every recorded answer, not only the telling ones. */
  everyAnswer: process.env.WYNNSYNC_TEST_FULL === '1',
} as const
