import { isUtf8 } from 'node:buffer'
import { parseJsonBytes } from '../../base/text/decode.ts'
import { type Api, createClient } from '../client.ts'
import { classifyResponse, faultError } from '../http/classify-response.ts'
import { emptyOutcome, type Outcome } from '../http/outcome.ts'
import { type ApiRequest, wireRequest } from '../http/request.ts'
import { type Dates, datesOf, type Headers } from '../http/response-headers.ts'
import { offline, type Recorder } from '../http/transport.ts'
import { toApiResponse } from '../response.ts'
import {
  BrokenRecording,
  decodedPath,
  placeIn,
  type Recorded,
  readBody,
  readIndex,
  requestName,
} from '../schemas/recordings/recording-index.ts'
import { versionParser } from './json-versions.ts'

/** Where recorded responses come from. */
export interface RecordingSource {
  /** Oldest first. */
  readonly lines: readonly Recorded[]
  /** The unpacked body of a line. @throws BrokenRecording */
  read(line: Recorded): Buffer | Promise<Buffer | WrittenBody>
  /** Where a line is to be found, for messages. */
  placeOf(line: Recorded): string
  /** What of a parsed body is the response, where that is not all of it. */
  responseIn?(line: Recorded, content: unknown): unknown
}

/** A body that was put together of others, and what it was written from. */
export interface WrittenBody {
  readonly bytes: Buffer
  readonly parsed: unknown
}

/** Recorded responses, which stand in for the API. */
export interface RecordedResponses extends Pick<RecordingSource, 'lines' | 'placeOf'> {
  /** The newest response to a request that was recorded at or before an instant (ms since the epoch). */
  newest(name: string, at: number): Recorded | undefined
  /**
   * A client that responds as the API did at an instant (ms since the epoch), from the newest recording until then. It
   * throws BrokenRecording where there is none or it cannot be read, and for recorded refusals what the API's throw.
   * @param standIns what responds to requests instead, by their name
   */
  apiAsOf(at: number, standIns?: StandIns): Api
  /** The same without the lines from before or after two instants (ms since the epoch), and what these are. */
  between(from: number, until: number): { readonly answers: RecordedResponses; readonly refused: readonly Recorded[] }
}

/** Responses to requests that were not recorded, by the name of the request: another recording, or a body. */
export type StandIns = ReadonlyMap<string, Recorded | { readonly json: unknown }>

export { BrokenRecording }

/**
 * Opens a folder with `index.jsonl` and gzipped bodies.
 * @throws FatalError when the index cannot be read or a line of it is not understood
 */
export function openRecordedResponses(folder: string): RecordedResponses {
  return recordedResponses({
    lines: readIndex(folder),
    read: (line) => readBody(folder, line),
    placeOf: (line) => placeIn(folder, line),
  })
}

interface AsOf {
  readonly at: number
  readonly read: Map<Recorded, Outcome>
  readonly standIns: StandIns | undefined
}

/** Stands in for the API with the responses of a source. */
export function recordedResponses(source: RecordingSource): RecordedResponses {
  const { lines, placeOf } = source
  const series = new Map<string, Recorded[]>()
  for (const line of lines) {
    // It responds only where it stands in for the whole response.
    if (line.isPart) continue
    const name = nameOf(line)
    const list = series.get(name)
    if (list) list.push(line)
    else series.set(name, [line])
  }
  const parserOf = parsersOfLong()
  const newest = (name: string, at: number) => lastUntil(series.get(name) ?? [], at)

  async function replay(request: ApiRequest, { at, read, standIns }: AsOf, record: Recorder) {
    const name = nameOfRequest(request)
    const standIn = standIns?.get(name)
    if (standIn && 'json' in standIn)
      return {
        ...toApiResponse({ ...emptyOutcome(at), status: 200, body: standIn.json, bytes: 0 }, 1),
        clockSkew: 0,
      }
    const found = standIn ?? newest(name, at)
    if (!found) throw new BrokenRecording(`${name.trim()} was not recorded until ${new Date(at).toISOString()}`)
    const outcome = read.get(found) ?? (await outcomeOf(found, source, parserOf(name)))
    read.set(found, outcome)
    record({ request, outcome, credential: 'guest' })
    const fault = classifyResponse(outcome)
    // When a refusal was recorded, too, is what the recording says.
    if (fault !== null) {
      const dates = recordedAt(outcome.receivedAt)
      throw faultError(fault, { ...outcome, headers: new Map() }, request.path, 1, dates)
    }
    return { ...toApiResponse(outcome, 1), ...recordedDates(outcome.headers, found.at) }
  }

  return {
    lines,
    placeOf,
    newest,
    between: (from, until) => {
      const isWithin = ({ at }: Recorded) => at >= from && at <= until
      return {
        answers: recordedResponses({ ...source, lines: lines.filter(isWithin) }),
        refused: lines.filter((line) => !isWithin(line)),
      }
    },
    apiAsOf: (at, standIns) => {
      // A file is read once.
      const asOf = { at, standIns, read: new Map<Recorded, Outcome>() }
      return createClient({ transport: offline((request, record) => replay(request, asOf, record)) })
    },
  }
}

/** The last of some lines, oldest first, that was recorded at or before an instant. */
function lastUntil(lines: readonly Recorded[], at: number): Recorded | undefined {
  let from = 0
  let to = lines.length
  while (from < to) {
    const middle = (from + to) >> 1
    if ((lines[middle]?.at ?? 0) <= at) from = middle + 1
    else to = middle
  }
  return lines[from - 1]
}

/** Headers that say another instant than a recording by more than this are not of it, ms. */
const LARGEST_DIFFERENCE_MS = 3_600_000

/** A recording brings its instant; headers that were kept may say it better. Whose clock was right then is not asked any more. */
function recordedDates(headers: Headers, at: number): Dates {
  const { observedAt: said } = datesOf(headers, at)
  const observedAt = Math.abs(said - at) <= LARGEST_DIFFERENCE_MS ? said : at
  return recordedAt(observedAt)
}

function recordedAt(observedAt: number): Dates {
  return { observedFrom: observedAt, observedAt, clockSkew: 0, oddHeaders: [], isUndated: false }
}

/** The name of the request of a line; the same as `nameOfRequest` of that request. */
export function nameOf({ method, path, query, requestBody }: Recorded): string {
  return requestName(method, decodedPath(path), new URLSearchParams(query), requestBody)
}

/** The name of a request, for `newest`. */
export function nameOfRequest(request: ApiRequest): string {
  const { method, target } = wireRequest(request)
  const [path = '', query = ''] = target.split('?')
  return requestName(method, decodedPath(path), new URLSearchParams(query), request.json)
}

/** The requests that a call makes of a client: each gets the same body, by default an empty object, and none is sent. */
export async function requestsOf(call: (api: Api) => Promise<unknown>, body: object = {}): Promise<ApiRequest[]> {
  const requests: ApiRequest[] = []
  const outcome: Outcome = { ...emptyOutcome(0), status: 200, body, bytes: 2 }
  const transport = offline(async (request) => {
    requests.push(request)
    return toApiResponse(outcome, 1)
  })
  // A call that cannot read it has made its request all the same.
  await call(createClient({ transport })).catch(() => undefined)
  return requests
}

/**
 * The parser for the bodies of a request. Of long ones, such as the item database, that of the version before is remembered: of
 * so few requests that the memory it takes is bounded.
 */
function parsersOfLong(): (name: string) => (bytes: Buffer) => unknown {
  const parsers = new Map<string, (bytes: Buffer) => unknown>()
  return (name) => (bytes) => {
    const known = parsers.get(name)
    if (known) return known(bytes)
    if (bytes.length < 250_000 || parsers.size === 4) return parseJsonBytes(bytes)
    const parser = versionParser()
    parsers.set(name, parser)
    return parser(bytes)
  }
}

async function outcomeOf(
  recorded: Recorded,
  { read, placeOf, responseIn = (_, content) => content }: RecordingSource,
  parse: (bytes: Buffer) => unknown,
): Promise<Outcome> {
  const { at, status, headers } = recorded
  const body = await read(recorded)
  const unpacked = Buffer.isBuffer(body) ? body : body.bytes
  if (body === unpacked && !isUtf8(unpacked))
    throw new BrokenRecording(`${placeOf(recorded)} holds bytes that are not UTF-8`)
  const lowerCase = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const content = Buffer.isBuffer(body) ? parsedOf(body) : body.parsed
  const parsed = Buffer.isBuffer(body) ? responseIn(recorded, content) : content
  const bytes = parsed === content ? unpacked : Buffer.from(JSON.stringify(parsed))
  const wire = { bytes, isGzip: false }
  return { ...emptyOutcome(at), status, headers: lowerCase, body: parsed, bytes: bytes.length, wire }

  function parsedOf(bytes: Buffer): unknown {
    try {
      return parse(bytes)
    } catch {
      throw new BrokenRecording(`${placeOf(recorded)} is not JSON, or JSON that ended early`)
    }
  }
}
