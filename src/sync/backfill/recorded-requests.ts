import type { Api } from '../../api/client.ts'
import type { ApiRequest } from '../../api/http/request.ts'
import { nameOf, nameOfRequest, requestsOf, type StandIns } from '../../api/recordings/recorded.ts'
import type { Recorded as RecordedLine } from '../../api/schemas/recordings/recording-index.ts'
import { type Extraction, isWorklist, type Resource, type Worklist } from '../declare/resource.ts'

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

/** A response of which not all requests were recorded, or in another form. */
export interface OtherForm {
  /** What stands in for the responses to the requests of the resource. */
  readonly standIns: StandIns
  /** Whether nothing follows from what it lacks. */
  readonly isPart: boolean
  /** The instant of the response before it, which had all that is older; ms since the epoch. */
  readonly since: number
}

/** The requests of a resource, as they are found in recordings. Lines are given in the order of time. */
interface RecordedRequests {
  readonly resource: Resource | Worklist
  /** Requests that a response takes; of a worklist none, for each key has its own. */
  readonly names: readonly string[]
  /** Of a worklist, the key that a line is about. */
  keyOf(line: RecordedLine): string | undefined
  /** What a line makes together with those before it, where that is no response to just the requests of the resource. */
  formOf(line: RecordedLine): OtherForm | undefined
  /** Whether a line is of this resource without making a response of it when all of `names` are there. */
  isOther(line: RecordedLine): boolean
}

export async function requestsOfResource(resource: Resource | Worklist): Promise<RecordedRequests> {
  const call = (body?: object) => requestsOf((api) => extractWith(resource, api), body)
  if (isWorklist(resource)) {
    const names = (await call()).map(nameOfRequest)
    const lists = await requestsOf(async (api) => await resource.listKeys?.(api, {}))
    return requestsOfKeys(resource, names, lists.map(nameOfRequest))
  }
  const forms = (resource.otherForms ?? []).map(nameOfTarget)
  // What is asked of each key of a list shows where a list has one.
  const listed = (await call({ [sampleKey]: {} })).map(nameOfRequest)
  const names = listed.filter((name) => !name.includes(sampleKey))
  const perKey = listed.filter((name) => name.includes(sampleKey)).map(keyMatcher)
  const ofKeys = perKey.length > 0 ? keyCollector(names, perKey) : undefined
  const ofForm = formCollector(names, forms)
  return {
    resource,
    names,
    keyOf: () => undefined,
    formOf: (line) => ofForm(line) ?? ofKeys?.(line),
    isOther: (line) => {
      const name = nameOf(line)
      if (names.includes(name)) return perKey.length > 0
      return forms.includes(name) || perKey.some((keyIn) => keyIn(name) !== undefined)
    },
  }
}

/** @param lists requests for the list of keys, which may be named as if they were of a key */
function requestsOfKeys(resource: Worklist, names: readonly string[], lists: readonly string[]): RecordedRequests {
  const matched = keyMatcher(names.join('\n'))
  const keyOf = (name: string) => (lists.includes(name) ? undefined : matched(name))
  const { parameter = '', usual = 0 } = resource.listLimit ?? {}
  /** The line as if no length of the list had been asked for, and the length. */
  const asked = (line: RecordedLine) => {
    const query = new URLSearchParams(line.query)
    const limit = parameter === '' ? null : query.get(parameter)
    if (limit === null || !/^[1-9]\d{0,5}$/.test(limit)) return { name: nameOf(line), limit: undefined }
    query.delete(parameter)
    return { name: nameOf({ ...line, query: query.toString() }), limit: Number(limit) }
  }
  // As the request names it: a uuid in small letters, any other key exactly so.
  const keyIn = (line: RecordedLine) => keyOf(asked(line).name)
  const formOf = (line: RecordedLine): OtherForm | undefined => {
    const { name, limit = usual } = asked(line)
    const isPart = line.isPart === true || limit < usual
    if (!isPart && name === nameOf(line)) return undefined
    return { standIns: new Map([[name, line]]), isPart, since: 0 }
  }
  return { resource, names: [], keyOf: keyIn, formOf, isOther: (line) => keyIn(line) !== undefined }
}

function nameOfTarget(target: string): string {
  const [path = '', query = ''] = target.split('?')
  return nameOf({ at: 0, method: 'GET', path, query, status: 200, headers: {}, body: '', line: 0 })
}

/** Finds the key in the name of a request that has it where another has `sampleKey`. */
function keyMatcher(sample: string): (name: string) => string | undefined {
  const [before = '', after = ''] = sample.split(sampleKey)
  return (name) => {
    const key = name.slice(before.length, name.length - after.length)
    return name === before + key + after && /^[^/?]+$/.test(key) ? key : undefined
  }
}

/** A response in another form, or a part of one, stands in for the one that the resource requests. */
function formCollector([asked = '']: readonly string[], forms: readonly string[]) {
  return (line: RecordedLine): OtherForm | undefined =>
    line.isPart || forms.includes(nameOf(line))
      ? { standIns: new Map([[asked, line]]), isPart: true, since: 0 }
      : undefined
}

/**
 * Of a resource that requests a list and then something of each of its keys: the keys of which everything was recorded so far
 * stand in for the list, which may not have been recorded.
 */
function keyCollector(lists: readonly string[], perKey: readonly ((name: string) => string | undefined)[]) {
  const found = new Map<string, Set<number>>()
  let latest = 0
  let since = 0
  return (line: RecordedLine): OtherForm | undefined => {
    const name = nameOf(line)
    if (line.status !== 200) return undefined
    for (const [nth, keyIn] of perKey.entries()) {
      const key = keyIn(name)
      if (key !== undefined) found.set(key, (found.get(key) ?? new Set()).add(nth))
    }
    const keys = [...found].flatMap(([key, requests]) => (requests.size === perKey.length ? [[key, {}]] : []))
    if (keys.length === 0) return undefined
    if (line.at > latest) [since, latest] = [latest, line.at]
    const list = { json: Object.fromEntries(keys) }
    return { standIns: new Map(lists.map((one) => [one, list])), isPart: true, since }
  }
}
