import { Forbidden, NotFound } from '../../api/errors.ts'
import { type HttpExchange, lineOf, textOf } from '../../api/http/http-exchange.ts'
import { versionMemory } from '../../api/recordings/json-versions.ts'
import { BrokenRecording, nameOf, type RecordedResponses } from '../../api/recordings/recorded.ts'
import type { Recorded as RecordedLine } from '../../api/schemas/recordings/recording-index.ts'
import { FatalError, messageOf, RecordError, RetryableError } from '../../base/errors.ts'
import { VersionsAhead } from '../archive/bodies.ts'
import { earliest } from '../declare/ignored.ts'
import { type Extraction, type ExtractOptions, isWorklist, type Resource, type Worklist } from '../declare/resource.ts'
import { expectUntil } from '../ledger/gaps.ts'
import { PreparedBefore } from '../normalize/prepared-before.ts'
import { AGREEING_CLOCKS } from '../respond/clocks.ts'
import { iso } from '../respond/validate-response.ts'
import type { Engine } from '../run/engine.ts'
import { ingest } from '../run/ingest.ts'
import { runResource } from '../run/run-resource.ts'
import type { RunResult } from '../run/run-result.ts'
import { WorklistRun } from '../run/worklist-run.ts'
import { periodSeconds } from '../schedule/ticker.ts'
import { addKeys } from '../worklist/work-items.ts'
import { extractWith, type OtherForm, requestsOfResource } from './recorded-requests.ts'

interface RecordedResponse {
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
function withinTime(
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
async function timelineOf(recorded: RecordedResponses, resources: readonly (Resource | Worklist)[]) {
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

/** The engine without the API: no request is sent, and time is that of the recordings. */
type Loading = Omit<Engine, 'api'>

interface LoadOptions extends Pick<ExtractOptions, 'signal'> {
  /** Only what these request; the rest of the folder is left out. */
  readonly resources: readonly (Resource | Worklist)[]
  /** Called after each response: how many are done, of how many, and of when the last one is (ms since the epoch). */
  readonly onProgress?: (done: number, of: number, at: number) => void
}

const noCounts = {
  answers: 0,
  /** Responses that are older than what was known, or the same. */
  stale: 0,
  unchanged: 0,
  inserted: 0,
  changed: 0,
  closed: 0,
  events: 0,
  rejected: 0,
  quarantined: 0,
}

/** What came of the recorded responses of one resource. */
type LoadedAnswers = { readonly resource: string } & Readonly<typeof noCounts>

export interface LoadedFolder {
  readonly resources: readonly LoadedAnswers[]
  /** Responses that could not be read, with file and line. */
  readonly broken: readonly string[]
  /** How often each request was recorded that no resource makes. */
  readonly unknown: ReadonlyMap<string, number>
}

/**
 * Loads recorded responses in the order of time, over all resources, through the same readers, guards and tables as a
 * sync at those times would. What is older than what is known changes nothing.
 * @throws RetryableError when the database is away, or what ended the signal; what was loaded until then stays
 */
export async function loadRecorded(
  folder: RecordedResponses,
  loading: Loading,
  { resources, signal, onProgress }: LoadOptions,
): Promise<LoadedFolder> {
  const { answers: recorded, refused } = withinTime(folder, loading.clock.now())
  const { responses, unknown } = await timelineOf(recorded, resources)
  const sums = new Map(resources.map(({ name }) => [name, { resource: name, ...noCounts }]))
  const runs = new Map<string, OpenRun>()
  const broken = [...refused]
  for (const message of broken) loading.log.error({}, message)
  await expectAll(loading, responses)
  const listed = new Set<string>()
  const before = new PreparedBefore()
  const ahead = new VersionsAhead(() => versionMemory(0))
  let done = 0
  for (const { response, opened } of readAhead(responses, (one) =>
    open(one, recorded, { ...loading, before, ahead }),
  )) {
    signal?.throwIfAborted()
    const { name } = response.resource
    try {
      const [resource, engine] = await opened
      await listKey(loading, response, listed)
      const result = isWorklist(resource)
        ? await loadKey(resource, engine, response, runs)
        : await loadWhole(resource, engine)
      add(sums.get(name), result)
    } catch (error) {
      if (!(error instanceof UnreadableResponse)) throw error
      broken.push(error.message)
      loading.log.error({ resource: name }, error.message)
    }
    done += 1
    onProgress?.(done, responses.length, response.at)
  }
  for (const [name, { run, requested }] of runs) {
    await run.endRefusals(true)
    Object.assign(sums.get(name) ?? {}, { rejected: (await run.close(requested)).rejected })
  }
  return { resources: [...sums.values()].filter(({ answers }) => answers > 0), broken, unknown }
}

/** Each response with what opening it gives: the next one is opened already, and is read while the database has this one. */
function* readAhead<T>(responses: readonly RecordedResponse[], openOne: (response: RecordedResponse) => Promise<T>) {
  const start = (response: RecordedResponse | undefined) => {
    const opened = response && openOne(response)
    // An error is thrown where it is awaited.
    opened?.catch(() => undefined)
    return opened
  }
  let opened = start(responses[0])
  for (const [nth, response] of responses.entries()) {
    const next = start(responses[nth + 1])
    if (opened) yield { response, opened }
    opened = next
  }
}

/**
 * Reads a recorded response, and gives its resource with an engine to load it.
 * @throws UnreadableResponse
 */
async function open(
  response: RecordedResponse,
  recorded: RecordedResponses,
  { ahead, ...loading }: Loading & { readonly ahead: VersionsAhead },
): Promise<readonly [Resource | Worklist, Engine]> {
  const { resource, at, key = '', form } = response
  // The ledger, too, is written as of that time.
  const clock = { ...loading.clock, now: () => at }
  const engine: Engine = { ...loading, isLate: true, api: recorded.apiAsOf(at), clock }
  if (isWorklist(resource)) {
    const api = recorded.apiAsOf(at, form?.standIns)
    // The archive of a key does not say that a response is only a part, and a replay would conclude from it.
    const ofKey = form?.isPart ? { ...engine, api, raw: false } : { ...engine, api }
    await check(resource, ofKey, { key })
    return [form?.isPart ? onlyPartOf(resource) : resource, ofKey]
  }
  const opened = await madeWhole(resource, engine, { recorded, response })
  await check(...opened, { ahead })
  return opened
}

/** The one run that all recorded responses of a worklist make up. */
interface OpenRun {
  readonly run: WorklistRun
  readonly requested: number
}

class UnreadableResponse extends RecordError {}

type Counted = Omit<typeof noCounts, 'answers' | 'stale' | 'unchanged'> & { readonly status: string }

function add(sum: typeof noCounts | undefined, result: Counted): void {
  if (!sum) return
  sum.answers += 1
  if (result.status === 'stale' || result.status === 'unchanged') sum[result.status] += 1
  for (const count of ['inserted', 'changed', 'closed', 'events', 'rejected', 'quarantined'] as const)
    sum[count] += result[count]
}

async function loadWhole(resource: Resource, engine: Engine): Promise<RunResult> {
  for (;;) {
    const run = await runResource(resource, engine)
    const message = `${resource.name}: ${run.error}`
    if (run.status === 'failed') throw run.temporary ? new RetryableError(message) : new FatalError(message)
    if (run.status !== 'skipped') return run
    // Another process is syncing it at this moment.
    await engine.clock.sleep(500)
  }
}

/** The resource and the engine of a response; where not all of it was recorded, its requests get what stands in for that. */
async function madeWhole(
  resource: Resource,
  engine: Engine,
  { recorded, response }: { readonly recorded: RecordedResponses; readonly response: RecordedResponse },
): Promise<[Resource, Engine]> {
  const { form, at } = response
  const isWhole = form === undefined || (await extractWith(resource, engine.api).then(isNotOlder, () => false))
  if (isWhole) return [resource, engine]
  const extract: Resource['extract'] = async (api, options) => {
    const extraction = await resource.extract(api, options)
    const observedFrom = Math.max(extraction.observedFrom, Math.min(form.since, extraction.observedAt))
    return { ...extraction, observedFrom, complete: false, lacks }
  }
  return [
    { ...resource, extract },
    { ...engine, api: recorded.apiAsOf(at, form.standIns) },
  ]

  function isNotOlder({ observedAt }: Extraction): boolean {
    return observedAt >= at
  }
}

async function loadKey(
  resource: Worklist,
  engine: Engine,
  { resource: declared, key = '' }: RecordedResponse,
  runs: Map<string, OpenRun>,
): Promise<Counted> {
  const { run, requested } = runs.get(resource.name) ?? {
    // The next recording may be of years later: no conclusion is held back.
    run: new WorklistRun(declared as Worklist, engine, 0),
    requested: 0,
  }
  runs.set(resource.name, { run, requested: requested + 1 })
  return await run.add(key, await ingest(run.contextOf(key, engine, resource)))
}

const lacks = 'not all of the response was recorded'

/** A resource whose responses are parts: nothing follows from what they lack. */
function onlyPartOf(resource: Worklist): Worklist {
  const extractOne: Worklist['extractOne'] = async (...asked) => ({
    ...(await resource.extractOne(...asked)),
    complete: false,
    lacks,
  })
  return { ...resource, extractOne }
}

/** Extracts a recorded response before it is loaded: an error here is the recording's. A refusal is a response too. */
async function check(
  resource: Resource | Worklist,
  { api, clock, raw }: Engine,
  { key, ahead }: { readonly key?: string; readonly ahead?: VersionsAhead },
): Promise<void> {
  // A long one takes as long to compress as to load. Of what is erased from a body of people nothing stays in another one.
  const compress = (exchange: HttpExchange) =>
    ahead?.compress(textOf(exchange), resource.personal ? undefined : lineOf(exchange))
  const checked = raw === true && ahead ? api.withRecorder(compress) : api
  try {
    await extractWith(resource, checked, key)
  } catch (error) {
    if (error instanceof NotFound || error instanceof Forbidden) return
    const place = error instanceof BrokenRecording ? '' : ` of ${new Date(clock.now()).toISOString()}`
    throw new UnreadableResponse(`${resource.name}${place}: ${messageOf(error)}`)
  }
}

/** Of what was recorded, too, is known what is missing: responses that lie further apart than those of a sync leave gaps. */
async function expectAll({ db, clock }: Loading, responses: readonly RecordedResponse[]): Promise<void> {
  const now = clock.now()
  for (const { name, schedule } of new Set(responses.map(({ resource }) => resource)))
    await expectUntil(db, { resource: name, everySeconds: periodSeconds(schedule, now), at: new Date(now) })
}

/** Puts a key on the worklist with the first response about it that can be read: the name of a file that has none may be no key. */
async function listKey({ db }: Loading, { resource, key }: RecordedResponse, listed: Set<string>): Promise<void> {
  const name = `${resource.name} ${key}`
  if (key === undefined || listed.has(name)) return
  await addKeys(db, resource.name, [key])
  listed.add(name)
}
