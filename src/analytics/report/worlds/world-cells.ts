import type { Period } from '../period.ts'
import type { OnlineStep } from './online-total.ts'

/** One world in one hour, as `analytics.world_peak` has it. */
export interface Hour {
  readonly world: string
  readonly hour: Date
  readonly average: number | null
  readonly most: number | null
  readonly coverage: number | null
}

/** One world in one step of the picture. */
export interface Cell {
  readonly world: string
  readonly at: Date
  readonly average: number
  readonly coverage: number | null
}

/** The cells of a grid, and the steps (ms since the epoch) of which anything is known. */
export interface Grid {
  readonly cells: readonly Cell[]
  /** The same by `step world`. */
  readonly averages: ReadonlyMap<string, number>
  readonly known: ReadonlySet<number>
}

/** Puts hours together into steps of `step` seconds: the average of the known hours, and of their coverage. */
export function cellsOf(hours: readonly Hour[], watched: readonly OnlineStep[], { from }: Period, step: number): Grid {
  const known = new Set(watched.filter(({ total }) => total !== null).map(({ at }) => at.getTime()))
  const groups = new Map<string, Hour[]>()
  for (const hour of hours) {
    if (hour.average === null) continue
    const place = Math.max(0, Math.floor((hour.hour.getTime() - from.getTime()) / (step * 1000)))
    const at = from.getTime() + place * step * 1000
    known.add(at)
    const key = `${at} ${hour.world}`
    groups.set(key, [...(groups.get(key) ?? []), hour])
  }
  const cells = [...groups].map(([key, group]) => ({
    world: key.slice(key.indexOf(' ') + 1),
    at: new Date(Number(key.slice(0, key.indexOf(' ')))),
    average: mean(group.map(({ average }) => average ?? 0)),
    coverage: group.some(({ coverage }) => coverage === null) ? null : mean(group.map(({ coverage }) => coverage ?? 0)),
  }))
  return { cells, known, averages: new Map([...groups.keys()].map((key, index) => [key, cells[index]?.average ?? 0])) }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
