import { systemClock } from '../base/clock.ts'
import type { SettingChecks } from '../base/config.ts'
import { UsageError } from '../base/errors.ts'
import { unknownName } from '../base/text/nearest.ts'
import { resources, resourcesNamed } from '../resources/index.ts'
import { schedulePartsOf } from '../sync/schedule/configured-schedules.ts'
import { cronError } from '../sync/schedule/node-cron.ts'
import { nextTick } from '../sync/schedule/ticker.ts'
import { retentionOf } from './maintenance.ts'

/** Settings whose form may be right while they name a resource or table that does not exist, or a time that never comes. */
export const settingChecks: SettingChecks = {
  WYNNSYNC_LAKE_SCHEDULE: (text) => [cronError(text) ?? []].flat(),
  WYNNSYNC_SCHEDULE: (text) =>
    schedulePartsOf(text).flatMap(({ part, name, expression }) => {
      const error = scheduleError(name, expression)
      return error === undefined ? [] : [`${part}: ${error}`]
    }),
  WYNNSYNC_RETENTION: (text) => problemsOf(() => retentionOf({ config: { retention: text, rawDays: {} } })),
  WYNNSYNC_RAW_DAYS: (text) => problemsOf(() => resourcesNamed(namesIn(text))),
  WYNNSYNC_PLAUSIBLE_SHARE: (text) => problemsOf(() => resourcesNamed(namesIn(text))),
}

function scheduleError(name: string, expression: string): string | undefined {
  if (!resources.some((resource) => resource.name === name))
    return unknownName('resource', name, resources, 'wynnsync status')
  if (expression === 'off') return undefined
  const error = cronError(expression)
  if (error !== undefined) return error
  return nextTick(expression, systemClock.now()) === Number.POSITIVE_INFINITY ? 'is not due within a month' : undefined
}

/** `guilds=7,players=forever`: the names. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/([a-z-]+)\s*=/g)].map(([, name = '']) => name)
}

/** What is wrong, a part a line; a heading, which names the setting, is left out. */
function problemsOf(read: () => unknown): readonly string[] {
  try {
    read()
    return []
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const [heading = '', ...parts] = error.message.split('\n')
    return parts.length > 0 ? parts.map((part) => part.trim()) : [heading]
  }
}
