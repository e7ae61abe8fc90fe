import { UsageError } from '../../base/errors.ts'
import { unknownName } from '../../base/text/nearest.ts'
import type { Resource, Worklist } from '../declare/resource.ts'
import type { Scheduled } from './schedule.ts'
import { cronError, nextTick } from './ticker.ts'

/**
 * When each resource is due: as it declares itself, unless the configuration says otherwise.
 * @param text such as `<resource>=0 * * * *; <resource>=off`, or undefined
 * @returns those that are on, and the names of those that are off
 * @throws UsageError that names every part that cannot be read
 */
export function schedulesOf(
  text: string | undefined,
  resources: readonly (Resource | Worklist)[],
  now: number,
): { scheduled: Scheduled[]; off: string[] } {
  const configured = new Map<string, string>()
  const wrong: string[] = []
  for (const part of (text ?? '').split(';').map((one) => one.trim())) {
    if (part === '') continue
    const [, name = '', expression = ''] = /^([^=]*?)(?:\s*=\s*(.*))?$/s.exec(part) ?? []
    const error = scheduleError(name, expression, resources, now)
    if (error === undefined) configured.set(name, expression)
    else wrong.push(`  ${part}: ${error}`)
  }
  if (wrong.length > 0) {
    throw new UsageError(
      `WYNNSYNC_SCHEDULE is wrong; write such as "${resources[0]?.name}=*/5 * * * *; ${resources.at(-1)?.name}=off":\n${wrong.join('\n')}`,
    )
  }
  const off = resources.flatMap(({ name }) => (configured.get(name) === 'off' ? [name] : []))
  const scheduled = resources
    .filter(({ name }) => !off.includes(name))
    .map((resource) => ({ resource, expression: configured.get(resource.name) ?? resource.schedule }))
  return { scheduled, off }
}

function scheduleError(
  name: string,
  expression: string,
  resources: readonly (Resource | Worklist)[],
  now: number,
): string | undefined {
  if (!resources.some((resource) => resource.name === name))
    return unknownName('resource', name, resources, 'wynnsync status')
  if (expression === 'off') return undefined
  const error = cronError(expression)
  if (error !== undefined) return error
  return nextTick(expression, now) === Number.POSITIVE_INFINITY ? 'is not due within a month' : undefined
}
