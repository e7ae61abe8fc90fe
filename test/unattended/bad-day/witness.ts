import { observedAt } from '../../../src/api/http/response-headers.ts'
import type { Delivered } from './journal.ts'

/** What the API was heard to say, each fact with the instants that its answers claimed to speak for. */
export interface Witness {
  hear(delivered: Delivered): void
  /** Whether an answer said it for this instant, give or take a second; ms. Without an instant: whether any did. */
  said(fact: readonly unknown[], at?: number): boolean
  /** The answers of a path that could be read and held what they should, in the order in which they came. */
  answersOf(path: string): readonly Claim[]
}

/** A good answer of a path: for which instant it claims to speak, and when it came; ms. */
export interface Claim {
  readonly claimed: number
  readonly at: number
}

const TOLERANCE = 1000

export function createWitness(): Witness {
  const facts = new Map<string, number[]>()
  const answers = new Map<string, Claim[]>()
  return {
    hear({ path, status, headers, body, toldAt }) {
      if (status !== 200) return
      const found = factsIn(path, parsed(body))
      if (found.length === 0) return
      const claimed = observedAt(headers, toldAt)
      const before = answers.get(path)
      if (before) before.push({ claimed, at: toldAt })
      else answers.set(path, [{ claimed, at: toldAt }])
      for (const fact of found) {
        const name = JSON.stringify(fact)
        const instants = facts.get(name)
        if (instants) instants.push(claimed)
        else facts.set(name, [claimed])
      }
    },
    said(fact, at) {
      const instants = facts.get(JSON.stringify(fact)) ?? []
      return at === undefined ? instants.length > 0 : instants.some((one) => Math.abs(one - at) <= TOLERANCE)
    },
    answersOf: (path) => answers.get(path) ?? [],
  }
}

type Fields = Readonly<Record<string, unknown>>
type Fact = readonly unknown[]

function factsIn(path: string, body: Fields): Fact[] {
  if (path === '/guild/list/territory') return Object.entries(body).flatMap(([name, one]) => heldBy(name, fields(one)))
  if (path === '/player') return whoIsOnline(body)
  return path.startsWith('/guild/uuid/') ? membersOf(body) : []
}

function heldBy(territory: string, record: Fields): Fact[] {
  return [['held', territory, fields(record.guild).uuid ?? null, instantOf(record.acquired)]]
}

function whoIsOnline({ total, players }: Fields): Fact[] {
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

function membersOf(guild: Fields): Fact[] {
  return Object.entries(fields(guild.members)).flatMap(([rank, members]) =>
    Object.entries(fields(members)).flatMap(([key, member]) => {
      const { uuid: player = key, joined, contributed } = fields(member)
      return [
        ['member', guild.uuid, player, rank, instantOf(joined)],
        ['contributed', guild.uuid, player, contributed],
      ]
    }),
  )
}

/** The API writes instants in several ways. */
function instantOf(told: unknown): number | null {
  return typeof told === 'string' ? Date.parse(told) : null
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function parsed(body: Buffer): Fields {
  try {
    return fields(JSON.parse(body.toString('utf8')))
  } catch {
    return {}
  }
}
