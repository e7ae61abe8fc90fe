import type { Played } from './played.ts'

/** What one answer about who is online could show; ms since the epoch. */
export interface OnlineAnswer {
  readonly at: number
  readonly total: number
  readonly hidden: number
  /** How many are listed on each world. */
  readonly worlds: ReadonlyMap<string, number>
  /** Whether everybody's world is told. */
  readonly isWhole: boolean
}

interface Change {
  readonly at: number
  readonly player: string
  /** Null: logs out. Undefined: stays where they are. */
  readonly world?: string | null
  readonly hides?: boolean
}

/** Who has just logged in is on no world yet, ms (API reference 7.4). */
const arriving = 5000

/** What answers at these instants (rising, ms) said, by playing the true history again. */
export function onlineAnswers({ history }: Pick<Played, 'history'>, instants: readonly number[]): OnlineAnswer[] {
  const changes: Change[] = []
  for (const { player, world, login, logout, hidden } of history.sessions) {
    changes.push({ at: Date.parse(login), player, world, hides: false })
    for (const { from, until } of hidden) {
      changes.push({ at: Date.parse(from), player, hides: true })
      if (until !== null) changes.push({ at: Date.parse(until), player, hides: false })
    }
    if (logout !== null) changes.push({ at: Date.parse(logout), player, world: null })
  }
  for (const { player, at, to } of history.hops) changes.push({ at: Date.parse(at), player, world: to })
  // A stable sort: of one instant in the order in which it was written.
  changes.sort((one, other) => one.at - other.at)

  const online = new Map<string, { world: string; since: number; hides: boolean }>()
  let next = 0
  return instants.map((at) => {
    for (let change = changes[next]; change && change.at <= at; change = changes[++next]) {
      const { player, world, hides } = change
      const known = online.get(player)
      if (world === null) online.delete(player)
      else if (world !== undefined) {
        const since = hides === undefined ? (known?.since ?? change.at) : change.at
        online.set(player, { world, since, hides: hides ?? known?.hides ?? false })
      } else if (known && hides !== undefined) known.hides = hides
    }
    return answerOf(at, [...online.values()])
  })
}

function answerOf(at: number, people: readonly { world: string; since: number; hides: boolean }[]): OnlineAnswer {
  const listed = people.filter(({ hides }) => !hides)
  const worlds = new Map<string, number>()
  for (const { world, since } of listed) if (at - since >= arriving) worlds.set(world, (worlds.get(world) ?? 0) + 1)
  const isWhole = listed.every(({ since }) => at - since >= arriving)
  return { at, total: people.length, hidden: people.length - listed.length, worlds, isWhole }
}

/** A time during which a number is known; ms. */
export interface Known<T> {
  readonly from: number
  readonly until: number
  readonly value: T
}

/**
 * An answer holds until the next one; where that is more than 90 seconds away, for the 30 seconds that it is cached.
 * Nothing is known of the time after the last one but those.
 */
export function holding<T extends { readonly at: number }>(answers: readonly T[]): Known<T>[] {
  return answers.map((value, nth) => {
    const next = answers[nth + 1]?.at ?? Number.POSITIVE_INFINITY
    return { from: value.at, until: next - value.at <= 90_000 ? next : value.at + 30_000, value }
  })
}

/** A world that is up, as answers show it; ms. */
export interface Up {
  readonly world: string
  readonly from: number
  until: number
  /** How many are listed from each answer on. */
  readonly counts: { readonly at: number; readonly online: number }[]
}

/**
 * When worlds are up as far as the lists show: one that two whole answers lack was down from the first of them. Where
 * somebody's world is not told, it may be any.
 */
export function worldsUp(answers: readonly OnlineAnswer[]): Up[] {
  const all: Up[] = []
  const living = new Map<string, Up & { missedAt?: number | undefined }>()
  for (const { at, worlds, isWhole } of answers) {
    for (const [world, online] of worlds) {
      const up: Up & { missedAt?: number | undefined } = living.get(world) ?? {
        world,
        from: at,
        until: Number.POSITIVE_INFINITY,
        counts: [],
      }
      if (!living.has(world)) {
        living.set(world, up)
        all.push(up)
      }
      up.missedAt = undefined
      up.counts.push({ at, online })
    }
    if (!isWhole) continue
    for (const [world, up] of living) {
      if (worlds.has(world)) continue
      up.counts.push({ at, online: 0 })
      if (up.missedAt === undefined) up.missedAt = at
      else {
        up.until = up.missedAt
        living.delete(world)
      }
    }
  }
  return all
}
