/** The part of a logger that the engine uses (pino has it). */
export interface RunLog {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The same log for one run: every line carries its resource and its id. */
export function logOfRun(log: RunLog, { resource, runId }: { resource: string; runId: string }): RunLog {
  const of = { resource, run: runId }
  return {
    debug: (fields, message) => log.debug({ ...of, ...fields }, message),
    info: (fields, message) => log.info({ ...of, ...fields }, message),
    warn: (fields, message) => log.warn({ ...of, ...fields }, message),
    error: (fields, message) => log.error({ ...of, ...fields }, message),
  }
}
