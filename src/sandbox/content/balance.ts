import { between, drawsFor, pick } from '../generator/draw.ts'
import { type ClassName, classNames, planAbilities } from './abilities.ts'
import { aspectNames } from './aspects.ts'

/** Milliseconds between two balance patches. They come at the same hour, whenever the sandbox began. */
const interval = 14 * 24 * 3_600_000
/** A Tuesday, ms since the epoch. */
const anyPatch = Date.UTC(2026, 0, 6, 15)

/** Since when patches count, and until when; ms since the epoch. */
export interface Span {
  readonly from: number
  readonly until: number
}

/** When there were balance patches after `from` and up to `until`, in order; ms since the epoch. */
export function patchInstants({ from, until }: Span): number[] {
  const instants: number[] = []
  for (let at = anyPatch + Math.ceil((from + 1 - anyPatch) / interval) * interval; at <= until; at += interval)
    instants.push(at)
  return instants
}

/** Every change of the balance patches of a span, in order. */
export function balanceChanges(seed: number, span: Span) {
  return patchInstants(span).flatMap((at) => classNames.map((name) => changesOf(seed, name, at)))
}

/** How many quests there are at the end of a span: each patch adds some, or takes one away. */
export function questCount(seed: number, span: Span): number {
  const first = between(drawsFor(seed, 'quests'), 140, 180)
  return patchInstants(span).reduce((sum, at) => sum + pick(drawsFor(seed, `quests ${at}`), [-1, 1, 2, 3]), first)
}

/**
 * What one patch changed of a class: the mana of abilities, by their ids, and how many percent aspects do, by their internal
 * names; never by 0.
 */
function changesOf(seed: number, name: ClassName, at: number) {
  const random = drawsFor(seed, `balance ${name} ${at}`)
  const { abilities } = planAbilities(seed, name)
  const three = Array.from({ length: 3 }, () => [pick(random, abilities).id, pick(random, [-5, 5, 10])] as const)
  const two = Array.from(
    { length: 2 },
    () => [pick(random, aspectNames(seed, name)), pick(random, [-1, 1, 2])] as const,
  )
  return { at, class: name, mana: new Map(three), percent: new Map(two) }
}

/** What all patches of a span changed of a class together. */
export function balanceOf(seed: number, name: ClassName, span: Span) {
  const own = balanceChanges(seed, span).filter((one) => one.class === name)
  return { mana: summed(own.map(({ mana }) => mana)), percent: summed(own.map(({ percent }) => percent)) }
}

function summed(changes: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const change of changes) for (const [name, by] of change) sums.set(name, (sums.get(name) ?? 0) + by)
  return sums
}
