import type { Sql } from '../db/database.ts'

type Job = (sql: Sql) => Promise<void>

/** Opens a session, runs work on it, and ends it. */
type OpenSession = (work: (sql: Sql) => Promise<void>) => Promise<void>

/**
 * Runs work whose statements are spread over up to `most` sessions: each begins when a statement would wait for another. Work needs
 * none but the first, so that those who wait for a second cannot block each other.
 * @throws what work or opening a session throws
 */
export async function onSessions<T>(open: OpenSession, most: number, work: (sql: Sql) => Promise<T>): Promise<T> {
  const waiting: Job[] = []
  const idle: ((job: Job | undefined) => void)[] = []
  let opened = 0
  let isOver = false
  let fail: (error: unknown) => void = () => undefined
  const failure = new Promise<never>((_, reject) => {
    fail = reject
  })
  failure.catch(() => undefined)
  const next = async (): Promise<Job | undefined> => {
    const job = waiting.shift()
    if (job !== undefined || isOver) return job
    return await new Promise((resolve) => idle.push(resolve))
  }
  const serve = async (sql: Sql) => {
    for (let job = await next(); job !== undefined; job = await next()) await job(sql)
  }
  const run = <R>(statement: (sql: Sql) => Promise<R>) =>
    new Promise<R>((resolve, reject) => {
      const job: Job = (sql) => statement(sql).then(resolve, reject)
      const free = idle.shift()
      if (free) return free(job)
      waiting.push(job)
      if (opened === most) return
      opened++
      open(serve).catch(fail)
    })
  try {
    const sql: Sql = {
      query: (...given) => run((one) => one.query(...given)),
      values: (...given) => run((one) => one.values(...given)),
      copy: (...given) => run((one) => one.copy(...given)),
      copyCsv: (...given) => run((one) => one.copyCsv(...given)),
    }
    return await Promise.race([work(sql), failure])
  } finally {
    isOver = true
    waiting.length = 0
    for (const end of idle) end(undefined)
  }
}
