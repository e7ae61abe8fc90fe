import type { Resource, Worklist } from '../declare/resource.ts'
import type { Scheduled } from './schedule.ts'

/**
 * When each resource is due: as it declares itself, unless the configuration says otherwise.
 * @param text as WYNNSYNC_SCHEDULE has it, checked when the configuration was read, or undefined
 * @returns those that are on, and the names of those that are off
 */
export function schedulesOf(
  text: string | undefined,
  resources: readonly (Resource | Worklist)[],
): { scheduled: Scheduled[]; off: string[] } {
  const configured = new Map(schedulePartsOf(text).map(({ name, expression }) => [name, expression]))
  const off = resources.flatMap(({ name }) => (configured.get(name) === 'off' ? [name] : []))
  const scheduled = resources
    .filter(({ name }) => !off.includes(name))
    .map((resource) => ({ resource, expression: configured.get(resource.name) ?? resource.schedule }))
  return { scheduled, off }
}

/** The parts of WYNNSYNC_SCHEDULE, such as `<resource>=0 * * * *; <resource>=off`, each as it is written and as it is read. */
export function schedulePartsOf(text = ''): { part: string; name: string; expression: string }[] {
  const parts = text.split(';').map((one) => one.trim())
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const [, name = '', expression = ''] = /^([^=]*?)(?:\s*=\s*(.*))?$/s.exec(part) ?? []
      return { part, name, expression }
    })
}
