import { Forbidden, NotFound } from '../../api/errors.ts'
import {
  BrokenRecording,
  nameOf,
  nameOfRequest,
  type RecordedAnswers,
  requestsOf,
} from '../../api/recordings/recorded.ts'
import type { Recorded as RecordedLine } from '../../api/schemas/recordings/recording-index.ts'
import { FatalError, RecordError, RetryableError } from '../../app/errors.ts'
import type { Engine } from '../engine.ts'
import { type Extraction, type ExtractOptions, isWorklist, type Resource, type Worklist } from '../resource.ts'
import { refresh } from '../run/refresh.ts'
import { runResource } from '../run/run.ts'
import type { RunResult } from '../run/run-result.ts'
import { type RunSummary, startRunSummary } from '../run/run-summary.ts'
import type { LastSaid } from '../validate/guard-actions.ts'
import { openRefusals, type RunRefusals } from '../worklist/run-refusals.ts'
import { listKeys } from './campaign.ts'
import { withinTime } from './within-time.ts'

/** What recorded answers are loaded with: time is that of the recordings, and nobody is asked. */
export type Loading = Omit<Engine, 'api'>

export interface LoadOptions extends Pick<ExtractOptions, 'signal'> {
  /** Only what these ask for; the rest of the folder is passed over. */
  readonly resources: readonly (Resource | Worklist)[]
  /** Told after each answer: how many are done, of how many. */
  readonly onProgress?: (done: number, of: number) => void
}

/** What came of the recorded answers of one resource. */
export interface LoadedAnswers {
  readonly resource: string
  readonly answers: number
  /** Answers that are older than what was known, or the same. */
  readonly stale: number
  readonly unchanged: number
  readonly inserted: number
  readonly changed: number
  readonly closed: number
  readonly events: number
  readonly rejected: number
  readonly quarantined: number
}

/** What came of a folder of recorded answers. */
export interface LoadedFolder {
  readonly resources: readonly LoadedAnswers[]
  /** Answers that could not be read, with file and line. */
  readonly broken: readonly string[]
  /** How often each request was recorded that no resource makes. */
  readonly unknown: ReadonlyMap<string, number>
}

/** One recorded answer that somebody asks for. */
interface Moment {
  readonly at: number
  readonly resource: Resource | Worklist
  /** Of a worklist. */
  readonly key?: string
}

/** Which requests a resource makes. */
interface Asked {
  readonly resource: Resource | Worklist
  /** Names of its requests; of a worklist none, for each key has its own. */
  readonly names: readonly string[]
  keyOf(line: RecordedLine): string | undefined
}

/** A key that no resource has, to see what a worklist asks for. */
const sampleKey = '00000000-0000-4000-8000-000000000000'

/**
 * Takes in recorded answers in the order of time, over all resources, through the same readers, guards and tables as a
 * sync at those times would. What is older than what is known changes nothing.
 * @throws RetryableError when the database is away, or what ended the signal; what was loaded until then stays
 */
export async function loadRecorded(
  folder: RecordedAnswers,
  loading: Loading,
  { resources, signal, onProgress }: LoadOptions,
): Promise<LoadedFolder> {
  const { answers: recorded, refused } = withinTime(folder, loading.clock.now())
  const { moments, unknown } = await momentsOf(recorded, resources)
  const sums = new Map(resources.map(({ name }) => [name, emptySum(name)]))
  const tallies = new Map<string, OpenTally>()
  const broken = [...refused]
  for (const message of broken) loading.log.error({}, message)
  await listAll(loading, moments)
  for (const [done, moment] of moments.entries()) {
    signal?.throwIfAborted()
    const { resource, at } = moment
    const sum = sums.get(resource.name) ?? emptySum(resource.name)
    const engine = engineAt(recorded, loading, at)
    try {
      add(
        sum,
        isWorklist(resource) ? await takeKey(resource, engine, moment, tallies) : await takeWhole(resource, engine),
      )
    } catch (error) {
      if (!(error instanceof BrokenAnswer)) throw error
      broken.push(error.message)
      loading.log.error({ resource: resource.name }, error.message)
    }
    onProgress?.(done + 1, moments.length)
  }
  for (const [name, { tally, asked, refusals }] of tallies) {
    await refusals.close(true)
    Object.assign(sums.get(name) ?? {}, { rejected: (await tally.close(asked)).rejected })
  }
  return { resources: [...sums.values()].filter(({ answers }) => answers > 0), broken, unknown }
}

/** The one run that all answers of a worklist make up. */
interface OpenTally {
  readonly tally: RunSummary
  readonly asked: number
  readonly said: LastSaid
  readonly refusals: RunRefusals
}

/** What one recorded answer says cannot be taken in. */
class BrokenAnswer extends RecordError {}

type Sum = { -readonly [Count in keyof LoadedAnswers]: LoadedAnswers[Count] }
type Taken = Pick<RunResult, 'inserted' | 'changed' | 'closed' | 'events' | 'rejected' | 'quarantined'> & {
  readonly status: string
}

function emptySum(resource: string): Sum {
  const none = { answers: 0, stale: 0, unchanged: 0, inserted: 0, changed: 0, closed: 0, events: 0 }
  return { resource, ...none, rejected: 0, quarantined: 0 }
}

function add(sum: Sum, { status, ...taken }: Taken): void {
  sum.answers += 1
  if (status === 'stale') sum.stale += 1
  if (status === 'unchanged') sum.unchanged += 1
  sum.inserted += taken.inserted
  sum.changed += taken.changed
  sum.closed += taken.closed
  sum.events += taken.events
  sum.rejected += taken.rejected
  sum.quarantined += taken.quarantined
}

/** The engine as it would have been then: the ledger, too, is written as of that time. */
function engineAt(recorded: RecordedAnswers, loading: Loading, at: number): Engine {
  return { ...loading, api: recorded.apiAsOf(at), clock: { ...loading.clock, now: () => at } }
}

async function takeWhole(resource: Resource, engine: Engine): Promise<Taken> {
  await check(resource, engine, () => resource.extract(engine.api, {}))
  for (;;) {
    const run = await runResource(resource, engine)
    const message = `${resource.name}: ${run.error}`
    if (run.status === 'failed') throw run.temporary ? new RetryableError(message) : new FatalError(message)
    if (run.status !== 'skipped') return run
    // Another process is syncing it at this moment.
    await engine.clock.sleep(500)
  }
}

async function takeKey(
  resource: Worklist,
  engine: Engine,
  { key = '' }: Moment,
  tallies: Map<string, OpenTally>,
): Promise<Taken> {
  await check(resource, engine, () => resource.extractOne(engine.api, key, {}))
  const tally = tallies.get(resource.name)?.tally ?? startRunSummary(resource, engine)
  // The next recording may be of years later: no conclusion is held back.
  const refusals = () => openRefusals(resource, engine, tally, { window: 0 })
  const begun = tallies.get(resource.name) ?? { tally, asked: 0, said: new Map(), refusals: refusals() }
  const told = await refresh(resource, engine, begun.tally.runId, key, {}, begun.said)
  begun.tally.add(key, told)
  await begun.refusals.add(key, told)
  tallies.set(resource.name, { ...begun, asked: begun.asked + 1 })
  return told
}

/** Reads a recorded answer before it is taken in: whatever goes wrong here is the answer's fault. A refusal is an answer. */
async function check(
  { name }: Resource | Worklist,
  { clock }: Engine,
  extract: () => Promise<Extraction>,
): Promise<void> {
  try {
    await extract()
  } catch (error) {
    if (error instanceof NotFound || error instanceof Forbidden) return
    const what = error instanceof Error ? error.message : String(error)
    const place = error instanceof BrokenRecording ? '' : ` of ${new Date(clock.now()).toISOString()}`
    throw new BrokenAnswer(`${name}${place}: ${what}`)
  }
}

/** What is recorded of what is asked for, in the order of time, each moment once; and what nobody asks for. */
async function momentsOf(recorded: RecordedAnswers, resources: readonly (Resource | Worklist)[]) {
  const asked = await Promise.all(resources.map(requestsOfResource))
  const moments = new Map<string, Moment>()
  const unknown = new Map<string, number>()
  const halves: { resource: Resource | Worklist; line: RecordedLine }[] = []
  for (const line of recorded.lines) {
    const name = nameOf(line)
    const by = asked.find((one) => one.names.includes(name) || one.keyOf(line) !== undefined)
    if (!by) {
      unknown.set(requestOf(line), (unknown.get(requestOf(line)) ?? 0) + 1)
      continue
    }
    const { resource, names } = by
    // Of several requests of one resource the last one that was recorded completes the answer.
    if (!names.every((one) => recorded.newest(one, line.at))) {
      halves.push({ resource, line })
      continue
    }
    const key = by.keyOf(line)
    const moment = { at: line.at, resource, ...(key === undefined ? {} : { key }) }
    moments.set(`${resource.name} ${key} ${line.at}`, moment)
  }
  const complete = new Set([...moments.values()].map((one) => one.resource))
  for (const { resource, line } of halves) {
    const shown = `${requestOf(line)} (half of ${resource.name}; the other was not recorded)`
    if (!complete.has(resource)) unknown.set(shown, (unknown.get(shown) ?? 0) + 1)
  }
  return { moments: [...moments.values()], unknown }
}

async function requestsOfResource(resource: Resource | Worklist): Promise<Asked> {
  if (!isWorklist(resource)) {
    const requests = await requestsOf((api) => resource.extract(api, {}))
    return { resource, names: requests.map(nameOfRequest), keyOf: () => undefined }
  }
  const requests = await requestsOf((api) => resource.extractOne(api, sampleKey, {}))
  const [before = '', after = ''] = requests.map(nameOfRequest).join('\n').split(sampleKey)
  const keyOf = (line: RecordedLine) => {
    const name = nameOf(line)
    const key = name.slice(before.length, name.length - after.length)
    return name === before + key + after && /^[^/?]+$/.test(key) ? key.toLowerCase() : undefined
  }
  return { resource, names: [], keyOf }
}

function requestOf({ method, path, query }: RecordedLine): string {
  return `${method} ${path}${query === '' ? '' : `?${query}`}`
}

async function listAll({ db }: Loading, moments: readonly Moment[]): Promise<void> {
  const keys = new Map<string, string[]>()
  for (const { resource, key } of moments) {
    if (key === undefined) continue
    const listed = keys.get(resource.name)
    if (listed) listed.push(key)
    else keys.set(resource.name, [key])
  }
  for (const [resource, listed] of keys) await listKeys(db, resource, listed)
}
