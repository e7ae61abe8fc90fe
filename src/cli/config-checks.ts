import { systemClock } from '../base/clock.ts'
import type { SettingChecks } from '../base/config.ts'
import { UsageError } from '../base/errors.ts'
import { resources, resourcesNamed } from '../resources/index.ts'
import { schedulesOf } from '../sync/schedule/configured-schedules.ts'
import { cronError } from '../sync/schedule/ticker.ts'
import { retentionOf } from './maintenance.ts'

/** Settings whose form may be right while they name a resource or table that does not exist, or a time that never comes. */
export const settingChecks: SettingChecks = {
  WYNNSYNC_LAKE_SCHEDULE: (text) => [cronError(text) ?? []].flat(),
  WYNNSYNC_SCHEDULE: (text) => problemsOf(() => schedulesOf(text, resources, systemClock.now())),
  WYNNSYNC_RETENTION: (text) => problemsOf(() => retentionOf({ config: { retention: text, rawDays: {} } })),
  WYNNSYNC_RAW_DAYS: (text) => problemsOf(() => resourcesNamed(namesIn(text))),
  WYNNSYNC_PLAUSIBLE_SHARE: (text) => problemsOf(() => resourcesNamed(namesIn(text))),
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
