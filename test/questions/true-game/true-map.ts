import type { Played } from './played.ts'

/** One guild's, or nobody's, time at one territory, as answers could show it; ms since the epoch. */
export interface Stretch {
  readonly territory: string
  /** Null: nobody held it. */
  readonly guild: string | null
  readonly from: number
  /** Null: to this day. */
  readonly until: number | null
  /** The answer that showed it first. */
  readonly seenAt: number
  /** Who was seen holding it before; undefined where the place was not on the map before. */
  readonly before: string | null | undefined
}

/** One guild's time at one territory as it really was. */
interface Hold {
  readonly guild: string
  readonly from: number
  readonly until: number
}

const never = Number.POSITIVE_INFINITY

/** What is true of the map: who held what, and when a place was on it. */
export class TrueMap {
  readonly holds = new Map<string, Hold[]>()
  /** From when to when each place is on the map. */
  readonly places = new Map<string, { readonly from: number; until: number }>()
  private readonly names = new Map<
    string,
    { readonly at: number; readonly name: string; readonly prefix: string | null }[]
  >()

  constructor({ history, first }: Pick<Played, 'history' | 'first'>) {
    for (const territory of first.territories) this.places.set(territory, { from: 0, until: never })
    for (const { territory, at, event, formerName } of history.map) {
      const gone = this.places.get(event === 'retired' ? territory : (formerName ?? ''))
      if (gone) gone.until = Date.parse(at)
      if (event !== 'retired') this.places.set(territory, { from: Date.parse(at), until: never })
    }
    for (const { territory, guild, from, until } of history.holds) {
      const hold = { guild, from: Date.parse(from), until: until === null ? never : Date.parse(until) }
      this.holds.set(territory, [...(this.holds.get(territory) ?? []), hold])
    }
    for (const [guild, { name, prefix }] of first.guilds) this.names.set(guild, [{ at: 0, name, prefix }])
    for (const { guild, at, name, prefix } of history.guilds)
      this.names.set(guild, [...(this.names.get(guild) ?? []), { at: Date.parse(at), name, prefix }])
  }

  /** What a guild was called at an instant; nulls for nobody. */
  called(guild: string | null, at: number): readonly [name: string | null, prefix: string | null] {
    const found = this.names.get(guild ?? '')?.findLast((one) => one.at <= at)
    return [found?.name ?? null, found?.prefix ?? null]
  }

  /** Who held a place at an instant, and since when the API says so; null: nobody; undefined: it was not on the map. */
  at(territory: string, at: number): Hold | null | undefined {
    const place = this.places.get(territory)
    if (!place || place.from > at || place.until <= at) return undefined
    return this.holds.get(territory)?.find((one) => one.from <= at && at < one.until) ?? null
  }
}

/**
 * What answers at these instants (rising, ms) could show of every place, in order of time: a stretch begins when the game
 * says that it was taken, and where nobody holds it, when that was first seen. A place that is missing is gone when the
 * next answer lacks it too.
 */
export function stretchesSeen(truth: TrueMap, answers: readonly number[]): Stretch[] {
  return [...truth.places.keys()].flatMap((territory) => {
    const found: Stretch[] = []
    const end = (at: number) => {
      const last = found.at(-1)
      if (last && last.until === null) found[found.length - 1] = { ...last, until: at }
    }
    let known: { guild: string | null; since: number } | undefined
    answers.forEach((at, nth) => {
      const hold = truth.at(territory, at)
      const now = hold === undefined ? undefined : { guild: hold?.guild ?? null, since: hold?.from ?? 0 }
      if (now?.guild === known?.guild && now?.since === known?.since) return
      if (now === undefined) {
        if (nth === answers.length - 1) return
        end(at)
      } else {
        const from = now.guild === null ? at : now.since
        end(from)
        found.push({ territory, guild: now.guild, from, until: null, seenAt: at, before: known?.guild })
      }
      known = now
    })
    return found
  })
}

/** What a stretch is at an instant (ms): it holds its beginning and not its end. */
export function holdsAt({ from, until }: Stretch, at: number): boolean {
  return from <= at && (until === null || at < until)
}
