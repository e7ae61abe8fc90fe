import { datesOf, type Headers } from '../../../../src/api/http/response-headers.ts'
import { dateByClocks } from '../../../../src/sync/respond/clocks.ts'
import type { DeliveredResponse } from './proxied-request.ts'

/** The facts of all delivered responses, each with the instants that those responses speak for. */
export interface DeliveredFacts {
  add(response: DeliveredResponse): void
  /** Whether a response has it for about this instant, or from then until another; ms. Without an instant: whether any has. */
  has(fact: readonly unknown[], at?: number, until?: number): boolean
  /** The responses of a path that could be parsed and were not empty, in the order in which they came. */
  responsesOf(path: string): readonly ResponseTime[]
}

/** Which instant a response speaks for, and when it came; ms. */
export interface ResponseTime {
  readonly observedAt: number
  readonly at: number
}

/** A response without a date speaks for when it came, and time passes while it is read; ms. */
const TOLERANCE = { dated: 1000, undated: 10_000 }

interface Spoken {
  readonly at: number
  readonly tolerance: number
}

/** The instant that a response speaks for, as both clocks have it. */
const observedAt = (headers: Headers, receivedAt: number) => dateByClocks(datesOf(headers, receivedAt)).observedAt

export function recordDeliveredFacts(): DeliveredFacts {
  const facts = new Map<string, Spoken[]>()
  const responses = new Map<string, ResponseTime[]>()
  return {
    add({ path, status, headers, body, respondedAt }) {
      if (status !== 200) return
      const instant = observedAt(headers, respondedAt)
      const found = factsIn(path, parsed(body), instant)
      if (found.length === 0) return
      const isDated = observedAt(headers, respondedAt + 1) === instant
      const spoken = { at: instant, tolerance: isDated ? TOLERANCE.dated : TOLERANCE.undated }
      const time = { observedAt: instant, at: respondedAt }
      const before = responses.get(path)
      if (before) before.push(time)
      else responses.set(path, [time])
      for (const fact of found) {
        const name = JSON.stringify(fact)
        const instants = facts.get(name)
        if (instants) instants.push(spoken)
        else facts.set(name, [spoken])
      }
    },
    has(fact, at = Number.NEGATIVE_INFINITY, until = Number.isFinite(at) ? at : Number.POSITIVE_INFINITY) {
      const instants = facts.get(JSON.stringify(fact)) ?? []
      return instants.some((one) => one.at >= at - one.tolerance && one.at <= until + one.tolerance)
    },
    responsesOf: (path) => responses.get(path) ?? [],
  }
}

type Fields = Readonly<Record<string, unknown>>
type Fact = readonly unknown[]

function factsIn(path: string, body: Fields, at: number): Fact[] {
  if (path === '/guild/list/territory')
    return Object.entries(body).flatMap(([name, one]) => holdFacts(name, fields(one), at))
  if (path === '/player') return onlineFacts(body)
  return path.startsWith('/guild/uuid/') ? memberFacts(body, at) : []
}

/** An `acquired` in the future does not count: then it only says who holds it. */
function holdFacts(territory: string, record: Fields, at: number): Fact[] {
  const acquired = instantOf(record.acquired)
  const holder = ['held', territory, fields(record.guild).uuid ?? null]
  return acquired !== null && acquired > at
    ? [
        [...holder, acquired],
        [...holder, null],
      ]
    : [[...holder, acquired]]
}

function onlineFacts({ total, players }: Fields): Fact[] {
  const listed = Object.entries(fields(players))
  if (listed.length === 0) return []
  const worlds = new Map<unknown, number>()
  for (const [, world] of listed) worlds.set(world, (worlds.get(world) ?? 0) + 1)
  return [
    ['online', total, listed.length],
    ...listed.map(([player, world]) => ['listed', player, world]),
    ...listed.map(([player]) => ['listed', player]),
    ...[...worlds].map(([world, online]) => ['on world', world, online]),
  ]
}

/** A `joined` in the future does not count either. */
function memberFacts(guild: Fields, at: number): Fact[] {
  return Object.entries(fields(guild.members)).flatMap(([rank, members]) =>
    Object.entries(fields(members)).flatMap(([key, member]) => {
      const { uuid: player = key, joined, contributed } = fields(member)
      const since = instantOf(joined)
      const isMember = ['member', guild.uuid, player, rank]
      return [
        [...isMember, since],
        ...(since !== null && since > at ? [[...isMember, null]] : []),
        ['contributed', guild.uuid, player, contributed],
      ]
    }),
  )
}

/** The API writes instants in several ways. */
function instantOf(value: unknown): number | null {
  return typeof value === 'string' ? Date.parse(value) : null
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

const quotedUuid = /"([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})"/gi

function parsed(body: Buffer): Fields {
  try {
    // Uuids are stored in lower case and with hyphens, however they came.
    const spelled = (_: string, ...parts: string[]) => `"${parts.slice(0, 5).join('-').toLowerCase()}"`
    return fields(JSON.parse(body.toString('utf8').replaceAll(quotedUuid, spelled)))
  } catch {
    return {}
  }
}
