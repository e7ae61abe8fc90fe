import { nameOf, type RecordedResponses } from '../../api/recordings/recorded.ts'
import type { Recorded as RecordedLine } from '../../api/schemas/recordings/recording-index.ts'
import { earliest } from '../declare/ignored.ts'
import type { Resource, Worklist } from '../declare/resource.ts'
import { AGREEING_CLOCKS } from '../respond/clocks.ts'
import { iso } from '../respond/validate-snapshot.ts'
import { type OtherForm, requestsOfResource } from './recorded-requests.ts'

export interface RecordedResponse {
  /** Ms since the epoch. */
  readonly at: number
  readonly resource: Resource | Worklist
  /** Of a worklist. */
  readonly key?: string
  /** Where it is put together of what was recorded. */
  readonly form?: OtherForm
}

/**
 * The recorded responses without those that cannot have been recorded then: before the game began, or after now. Each of
 * these is named by its line.
 * @param now ms since the epoch
 */
export function withinTime(
  folder: RecordedResponses,
  now: number,
): { readonly answers: RecordedResponses; readonly refused: readonly string[] } {
  const { answers, refused } = folder.between(earliest, now + AGREEING_CLOCKS)
  const [from, until] = [earliest, now].map(iso)
  const reason = (line: (typeof refused)[number]) =>
    `${folder.placeOf(line)} is not loaded: it was recorded at ${iso(line.at)}, which is not between ${from} and ${until}`
  return { answers, refused: refused.map(reason) }
}

/** The recorded responses of these resources in the order of time, each once; and how often each other request was recorded. */
export async function timelineOf(recorded: RecordedResponses, resources: readonly (Resource | Worklist)[]) {
  const requests = await Promise.all(resources.map(requestsOfResource))
  const responses = new Map<string, RecordedResponse>()
  const unknown = new Map<string, number>()
  const halves: { resource: Resource | Worklist; line: RecordedLine }[] = []
  const count = (request: string) => unknown.set(request, (unknown.get(request) ?? 0) + 1)
  for (const line of recorded.lines) {
    const found = requests.find(({ names, isOther }) => names.includes(nameOf(line)) || isOther(line))
    if (!found) {
      count(requestText(line))
      continue
    }
    const { resource } = found
    const key = found.keyOf(line)
    const name = `${resource.name} ${key} ${line.at}`
    const form = found.formOf(line)
    // Of the same instant, the response that is whole counts.
    const other = responses.get(name)
    if (form?.isPart && other && !other.form?.isPart) continue
    // Of several requests of one resource the last one that was recorded completes the response.
    const isComplete = !found.isOther(line) || found.keyOf(line) !== undefined
    if (!form && !(isComplete && found.names.every((other) => recorded.newest(other, line.at)))) {
      halves.push({ resource, line })
      continue
    }
    responses.set(name, {
      at: line.at,
      resource,
      ...(key === undefined ? {} : { key }),
      ...(form ? { form } : {}),
    })
  }
  const complete = new Set([...responses.values()].map(({ resource }) => resource))
  for (const { resource, line } of halves) {
    if (!complete.has(resource)) count(`${requestText(line)} (half of ${resource.name}; the other was not recorded)`)
  }
  return { responses: [...responses.values()], unknown }
}

function requestText({ method, path, query }: RecordedLine): string {
  return `${method} ${path}${query === '' ? '' : `?${query}`}`
}
