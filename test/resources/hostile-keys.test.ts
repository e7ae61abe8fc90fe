import { assert, asyncProperty, constantFrom, integer, record } from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { isPathValue } from '../../src/api/call.ts'
import { type Api, createClient } from '../../src/api/client.ts'
import { emptyOutcome } from '../../src/api/http/outcome.ts'
import { wireRequest } from '../../src/api/http/request.ts'
import { offline } from '../../src/api/http/transport.ts'
import { toApiResponse } from '../../src/api/response.ts'
import { virtualClock } from '../../src/base/clock.ts'
import { resources } from '../../src/resources/index.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { isWorklist, type Resource, type Worklist } from '../../src/sync/declare/resource.ts'
import { prepare } from '../../src/sync/normalize/prepare.ts'
import { effort } from '../support/effort.ts'
import { smallItemWorld } from '../support/item-world.ts'
import { instantOf } from '../support/world.ts'

const hostile = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'a/b', 'a~b', '~1']
const ordinary = 'ordinary'
const marker = 987_654_321

/** Every object in a body, in the order of its text. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) ? inner : [value, ...inner]
}

/** A body with one more field in one of its objects, as JSON.parse would give it. */
function withField(body: unknown, place: number, name: string): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(body))
  const all = objectsIn(copy)
  const target = all[place % all.length]
  if (target)
    Object.defineProperty(target, name, { value: marker, enumerable: true, writable: true, configurable: true })
  return copy
}

describe('a field of any name, anywhere in a response', () => {
  let sandbox: Sandbox
  const clock = virtualClock(instantOf('10:00'), { auto: true })
  const bodies = new Map<string, { readonly headers: Headers; readonly body: unknown }>()
  beforeAll(async () => {
    const game = { guilds: 3, players: 8, resourceSeconds: 86_400 }
    sandbox = await startSandbox({ clock, game, items: smallItemWorld(), limits: { guest: 100_000, token: 100_000 } })
    return () => sandbox.close()
  })

  async function bodyOf(target: string) {
    const known = bodies.get(target)
    if (known) return known
    const response = await fetch(sandbox.url + target)
    const whole: unknown = await response.json()
    // No field is put into a record beyond these, and there are thousands of gathering nodes.
    const body = Array.isArray(whole) ? whole.slice(0, 501) : whole
    const found = { headers: response.headers, body }
    bodies.set(target, found)
    return found
  }

  /** A client of the sandbox's bodies, where the response with this number has one field more. */
  function client(nth: number, place: number, name: string | undefined): Api {
    let sent = 0
    const transport = offline(async (request) => {
      const { headers, body } = await bodyOf(wireRequest(request).target)
      const changed = sent++ === nth && name !== undefined ? withField(body, place, name) : body
      const outcome = { ...emptyOutcome(clock.now()), status: 200, headers: new Map(headers), body: changed, bytes: 1 }
      return toApiResponse(outcome, 1)
    })
    return createClient({ transport })
  }

  async function keyOf(resource: Worklist): Promise<string> {
    const api = client(0, 0, undefined)
    const listed = await resource.listKeys?.(api, {})
    if (listed?.[0]) return listed[0]
    const { body } =
      resource.keyFlag === 'guild'
        ? await bodyOf('/guild/list/guild?identifier=uuid')
        : await bodyOf('/player?identifier=uuid')
    const keys = Object.keys(resource.keyFlag === 'guild' ? Object(body) : Object(body).players)
    return keys[0] ?? ''
  }

  /** All that is made of a response, as text; undefined when it is refused as a whole, with an error. */
  async function madeOf(resource: Resource | Worklist, nth: number, place: number, name: string) {
    const api = client(nth, place, name)
    const key = isWorklist(resource) ? await keyOf(resource) : ''
    try {
      const extraction = isWorklist(resource)
        ? await resource.extractOne(api, key, {})
        : await resource.extract(api, {})
      const { entities, quarantined } = prepare(resource, extraction.records, extraction)
      const unknown = entities.flatMap((one) => {
        const related = Object.entries(one.relatedEntities).flatMap(([history, others]) =>
          others.flatMap(
            (other) => resource.relatedHistories?.[history]?.unknownFields?.(JSON.parse(other.documentText)) ?? [],
          ),
        )
        return [...resource.unknownFields(JSON.parse(one.documentText)), ...related]
      })
      const text = JSON.stringify([entities, quarantined, extraction.facts])
      return {
        keeps: text.includes(`${marker}`),
        names: text.includes(name),
        quarantined: quarantined.length,
        unknown: unknown.length,
      }
    } catch {
      return undefined
    }
  }

  test.each(resources.map((resource) => [resource.name, resource] as const))(
    'is kept like any other: %s',
    {
      timeout: 300_000,
    },
    async (_name, resource) => {
      const place = record({
        nth: integer({ min: 0, max: 2 }),
        place: integer({ min: 0, max: 500 }),
        name: constantFrom(...hostile),
      })
      const property = asyncProperty(place, async ({ nth, place, name }) => {
        // Names of classes become paths, and are refused where they cannot.
        const other = isPathValue(name) ? ordinary : '..'
        const [expected, found] = [await madeOf(resource, nth, place, other), await madeOf(resource, nth, place, name)]
        if (!expected || !found) return
        expect(found.keeps).toBe(expected.keeps)
        if (expected.names && expected.keeps) expect(found.names).toBe(true)
        expect(found.unknown).toBe(expected.unknown)
        expect(found.quarantined).toBe(expected.quarantined)
      })
      await assert(property, { numRuns: effort.everyAnswer ? 100 : 6, examples: [[{ nth: 0, place: 0, name: '' }]] })
    },
  )
})
