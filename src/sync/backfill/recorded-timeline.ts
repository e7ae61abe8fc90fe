import type { Api } from '../../api/client.ts'
import type { ApiRequest } from '../../api/http/request.ts'
import { nameOf, nameOfRequest, type RecordedResponses, requestsOf } from '../../api/recordings/recorded.ts'
import type { Recorded as RecordedLine } from '../../api/schemas/recordings/recording-index.ts'
import { type Extraction, isWorklist, type Resource, type Worklist } from '../resource.ts'
import { earliest } from '../validate/clock-guard.ts'

/** The clock of the machine that recorded may be ahead of this one by so much, ms. */
const tolerance = 15 * 60_000

/** A key that no resource has, to see what a worklist requests. */
export const sampleKey = '00000000-0000-4000-8000-000000000000'

/** Extracts a resource, of a worklist one key, by a client of recordings. */
export async function extractWith(resource: Resource | Worklist, api: Api, key = sampleKey): Promise<Extraction> {
  return isWorklist(resource) ? await resource.extractOne(api, key, {}) : await resource.extract(api, {})
}

/** The request of a resource; undefined where a response takes several. */
export async function onlyRequest(resource: Resource | Worklist): Promise<ApiRequest | undefined> {
  const [request, ...others] = await requestsOf((api) => extractWith(resource, api))
  return request?.route === resource.route && others.length === 0 ? request : undefined
}

export interface RecordedResponse {
  /** Ms since the epoch. */
  readonly at: number
  readonly resource: Resource | Worklist
  /** Of a worklist. */
  readonly key?: string
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
  const { answers, refused } = folder.between(earliest, now + tolerance)
  const [from, until] = [earliest, now].map(iso)
  const reason = (line: (typeof refused)[number]) =>
    `${folder.placeOf(line)} is not loaded: it was recorded at ${iso(line.at)}, which is not between ${from} and ${until}`
  return { answers, refused: refused.map(reason) }
}

function iso(instant: number): string {
  return new Date(instant).toISOString()
}

/** The recorded responses of these resources in the order of time, each once; and how often each other request was recorded. */
export async function timelineOf(recorded: RecordedResponses, resources: readonly (Resource | Worklist)[]) {
  const requests = await Promise.all(resources.map(requestsOfResource))
  const responses = new Map<string, RecordedResponse>()
  const unknown = new Map<string, number>()
  const halves: { resource: Resource | Worklist; line: RecordedLine }[] = []
  const count = (request: string) => unknown.set(request, (unknown.get(request) ?? 0) + 1)
  for (const line of recorded.lines) {
    const name = nameOf(line)
    const found = requests.find(({ names, keyOf }) => names.includes(name) || keyOf(line) !== undefined)
    if (!found) {
      count(requestText(line))
      continue
    }
    const { resource, names } = found
    // Of several requests of one resource the last one that was recorded completes the response.
    if (!names.every((other) => recorded.newest(other, line.at))) {
      halves.push({ resource, line })
      continue
    }
    const key = found.keyOf(line)
    responses.set(`${resource.name} ${key} ${line.at}`, {
      at: line.at,
      resource,
      ...(key === undefined ? {} : { key }),
    })
  }
  const complete = new Set([...responses.values()].map(({ resource }) => resource))
  for (const { resource, line } of halves) {
    if (!complete.has(resource)) count(`${requestText(line)} (half of ${resource.name}; the other was not recorded)`)
  }
  return { responses: [...responses.values()], unknown }
}

/** Names of the requests of a resource; of a worklist none, for each key has its own. */
async function requestsOfResource(resource: Resource | Worklist) {
  const names = (await requestsOf((api) => extractWith(resource, api))).map(nameOfRequest)
  if (!isWorklist(resource)) return { resource, names, keyOf: () => undefined }
  const [before = '', after = ''] = names.join('\n').split(sampleKey)
  const keyOf = (line: RecordedLine) => {
    const name = nameOf(line)
    const key = name.slice(before.length, name.length - after.length)
    return name === before + key + after && /^[^/?]+$/.test(key) ? key.toLowerCase() : undefined
  }
  const none: string[] = []
  return { resource, names: none, keyOf }
}

function requestText({ method, path, query }: RecordedLine): string {
  return `${method} ${path}${query === '' ? '' : `?${query}`}`
}
