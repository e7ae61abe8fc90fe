import { guildBody, type MemberFields } from './guild-answers.ts'

/*
 * A guild whose members contribute and fight at known instants, and the responses of a program that watched it only now and then:
 * every ten minutes for some hours, then not for minutes to years. The truth is a list of instants; nothing here is read from the program.
 */

interface Gain {
  readonly at: number
  readonly amount: number
}

interface Stay {
  readonly joined: number
  readonly left: number
  readonly contributed: readonly Gain[]
}

interface Player {
  readonly number: number
  readonly stays: readonly Stay[]
  /** Also while in no guild. */
  readonly wars: readonly Gain[]
}

export interface TrueCounters {
  readonly players: readonly Player[]
  /** The instants of responses, in order. */
  readonly responses: readonly number[]
  /** Responses that lack `contributed` for all. */
  readonly lacking: ReadonlySet<number>
  readonly begin: number
  readonly end: number
  /** A response of this guild. */
  bodyAt(at: number): object
  /** By how much a counter of a player rose in (from, to] while a member. */
  rise(player: number, counter: CounterName, from: number, to: number): number
  /** The same as far as the responses until `to` show it that have the counter: not what was made after the last one of a stay, or of wars before the first. */
  shownRise(player: number, counter: CounterName, from: number, to: number): number
  /** The responses that have a counter. */
  responsesWith(counter: CounterName): readonly number[]
}

export type CounterName = 'contributed' | 'wars'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const cadence = 10 * minute

/** @param watches how many times of watching there are */
export function trueCounters(random: () => number, begin: number, end: number, watches: number): TrueCounters {
  const between = (from: number, to: number) => Math.floor(from + random() * (to - from))
  const responses = responsesOf(random, begin, end, watches)
  const first = responses[0] ?? begin
  const last = responses.at(-1) ?? end
  /** Instants of gains: dense where it is watched, now and then elsewhere, so that every gap holds some. */
  const gains = (from: number, to: number): Gain[] => {
    const found: Gain[] = []
    const pace = random() < 0.3 ? 0.05 : 0.6
    for (const [nth, at] of responses.entries()) {
      const next = responses[nth + 1] ?? at + hour
      const several = next - at > hour ? between(0, 4) : random() < pace ? 1 : 0
      for (let one = 0; one < several; one++) found.push({ at: between(at + 1, next), amount: between(1, 100) })
    }
    for (let one = 0; one < 3; one++) found.push({ at: between(begin - 300 * day, first), amount: between(100, 1000) })
    return found.filter(({ at }) => at > from && at < to).sort((a, b) => a.at - b.at)
  }
  const players = Array.from({ length: 9 }, (_, nth): Player => {
    const stays: Stay[] = []
    // Three are there from before the first response, and stay.
    let at = nth < 3 || random() < 0.4 ? between(begin - 200 * day, first) : between(first, last)
    while (at < last && stays.length < 5) {
      const left = nth < 3 ? last + day : someInstant(random, responses, at, last)
      stays.push({ joined: at, left, contributed: gains(at, left) })
      at = random() < 0.5 ? left + between(1000, cadence / 2) : someInstant(random, responses, left, last)
    }
    return { number: nth + 1, stays, wars: gains(begin - 300 * day, last + hour) }
  })
  const lacking = new Set(lackingOf(random, responses))
  const responsesWith = (counter: CounterName) =>
    counter === 'contributed' ? responses.filter((one) => !lacking.has(one)) : responses
  const riseOf = (
    number: number,
    counter: CounterName,
    bounds: (stay: Stay) => readonly [from: number, to: number],
  ): number => {
    const player = players[number - 1]
    return (player?.stays ?? []).reduce(
      (sum, stay) => sum + total(counter === 'wars' ? (player?.wars ?? []) : stay.contributed, ...bounds(stay)),
      0,
    )
  }
  return {
    players,
    responses,
    lacking,
    begin,
    end,
    bodyAt: (at) => bodyAt(players, at, lacking.has(at)),
    rise: (number, counter, from, to) =>
      riseOf(number, counter, ({ joined, left }) => [Math.max(from, joined), Math.min(to, left)]),
    shownRise: (number, counter, from, to) =>
      riseOf(number, counter, ({ joined, left }) => {
        const shown = responsesWith(counter).filter((at) => at >= joined && at < left)
        const begun = shown.findLast((at) => at <= from) ?? (counter === 'wars' ? shown[0] : joined)
        return [begun ?? left, shown.findLast((at) => at <= to) ?? joined]
      }),
    responsesWith,
  }
}

/** An instant after another, more often one between two responses of a time of watching. */
function someInstant(random: () => number, responses: readonly number[], after: number, last: number): number {
  const later = responses.filter((at) => at > after + cadence)
  const near = later[Math.floor(random() * Math.min(60, later.length))]
  return near === undefined ? last + day : near - Math.floor(1 + random() * (cadence - 2))
}

function responsesOf(random: () => number, begin: number, end: number, watches: number): number[] {
  const found: number[] = []
  // Lengths of gaps from minutes to years; together as long as the history.
  const sizes = Array.from({ length: watches }, () => 10 ** (random() * 4.5))
  const scale = (end - begin - watches * 5 * hour) / sizes.reduce((sum, one) => sum + one, 0)
  let at = begin
  for (const size of sizes) {
    const until = at + (1 + random() * 4) * hour
    for (; at < until; at += cadence + Math.floor(random() * 20_000)) found.push(at - (at % 1000))
    at += Math.max(size * scale, 40 * minute)
  }
  return found.filter((one) => one < end)
}

/** Eight responses in a row, in one time of watching or two. */
function lackingOf(random: () => number, responses: readonly number[]): number[] {
  const start = Math.floor(8 + random() * (responses.length - 24))
  return responses.slice(start, start + 8)
}

function total(gains: readonly Gain[], from: number, to: number): number {
  return gains.reduce((sum, { at, amount }) => sum + (at > from && at <= to ? amount : 0), 0)
}

function bodyAt(players: readonly Player[], at: number, isLacking: boolean): object {
  const shown = players.flatMap(({ number, stays, wars }): [number, MemberFields][] => {
    const stay = stays.find(({ joined, left }) => joined <= at && at < left)
    if (!stay) return []
    const contributed = total(stay.contributed, Number.NEGATIVE_INFINITY, at)
    const globalData = { wars: 20 + total(wars, Number.NEGATIVE_INFINITY, at) }
    return [[number, { rank: number === 1 ? 'owner' : 'recruit', globalData, at: stay.joined, contributed }]]
  })
  const body = JSON.parse(JSON.stringify(guildBody('a', Object.fromEntries(shown))), (key, value: unknown) =>
    isLacking && key === 'contributed' ? undefined : value,
  ) as { members: Record<string, Record<string, { at?: number; joined?: string }>> }
  for (const ofRank of Object.values(body.members))
    for (const member of typeof ofRank === 'object' ? Object.values(ofRank) : []) {
      member.joined = new Date(member.at ?? 0).toISOString()
      delete member.at
    }
  return body
}
