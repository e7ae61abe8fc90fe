import { renewAt } from '../../api/auth/renewal.ts'
import { type Api, createClient } from '../../api/client.ts'
import { ApiError, Forbidden, NotFound, Unavailable } from '../../api/errors.ts'
import { textOf } from '../../api/http/http-exchange.ts'
import { type Dates, joinDates } from '../../api/http/response-headers.ts'
import { KnownResponse, offline } from '../../api/http/transport.ts'
import { parseJsonBytes } from '../../base/text/decode.ts'
import type { Extraction, ExtractOptions, Resource, Worklist } from '../declare/resource.ts'
import type { ClockSetting } from '../evidence/policies.ts'
import { type Preparation, prepare } from '../normalize/prepare.ts'
import { dateByClocks } from '../respond/clocks.ts'
import type { RefusalKind } from '../worklist/refusals.ts'
import type { Engine } from './engine.ts'

/** What is requested at once: a whole resource, or one key of a worklist. */
export type Target =
  | { readonly resource: Resource; readonly key?: undefined }
  | { readonly resource: Worklist; readonly key: string }

/** What the API gave: normalized records, a body that is known, a refusal of the key, or a failure. */
export type Extracted =
  | { readonly kind: 'response'; readonly extraction: Extraction; readonly preparation: Preparation }
  /** `parsed` responds with the same body again, and sends no request. */
  | { readonly kind: 'known'; readonly extraction: Extraction; readonly parsed: Api }
  | RefusedTarget
  | { readonly kind: 'failed'; readonly error: unknown }

export interface RefusedTarget {
  readonly kind: RefusalKind
  readonly reason: string
  /** Null: not known. */
  readonly dates: Dates | null
}

/** Requests a target and normalizes its records. Uses no database, and never throws. */
export async function extract(
  { resource, key, engine }: Target & { readonly engine?: Pick<Engine, 'before' | 'guards'> },
  api: Api,
  options: ExtractOptions,
): Promise<Extracted> {
  try {
    const extraction = withDates(
      key === undefined ? await resource.extract(api, options) : await resource.extractOne(api, key, options),
      engine?.guards.clock,
    )
    const preparation = prepare(
      resource,
      extraction.records,
      extraction,
      key === undefined ? engine?.before : undefined,
    )
    return { kind: 'response', extraction: resource.personal ? extraction : withoutRecords(extraction), preparation }
  } catch (error) {
    if (error instanceof KnownResponse) return knownResponse(error, engine?.guards.clock)
    return key !== undefined && error instanceof ApiError ? refusalOf(error) : { kind: 'failed', error }
  }
}

/** Once they are prepared, only the rules about people read the records again. Of a walk, its reader holds them too. */
function withoutRecords({ read: _, ...extraction }: Extraction & { readonly read?: unknown }): Extraction {
  return { ...extraction, records: [] }
}

/** What was extracted, with the instants that the clocks come to. */
function withDates(extraction: Extraction, clock: ClockSetting | undefined): Extraction {
  const { clockSkew = 0, oddHeaders = [] } = extraction
  return { ...extraction, ...dateByClocks({ ...extraction, clockSkew, oddHeaders }, clock) }
}

function knownResponse({ response, exchange }: KnownResponse, clock: ClockSetting | undefined): Extracted {
  const body = () => parseJsonBytes(Buffer.from(textOf(exchange)))
  const parsed = createClient({ transport: offline(async () => ({ ...response, body: body() })) })
  const whole = { records: [], complete: true, pages: 1, renewAt: renewAt(response) }
  const extraction = withDates({ ...whole, ...joinDates([response]) }, clock)
  return { kind: 'known', extraction, parsed }
}

/** A refusal that the application itself wrote; any other 403 or 404 is a failure. */
function refusalOf(error: ApiError): Extracted {
  const { message: reason, dates, status } = error
  if (error instanceof Forbidden && error.kind === 'Forbidden') return { kind: 'hidden', reason, dates }
  if (error instanceof NotFound) return { kind: 'gone', reason, dates }
  if (status !== 403 && status !== 404) return { kind: 'failed', error }
  return { kind: 'failed', error: new Unavailable(reason, { context: error.context, cause: error }) }
}
