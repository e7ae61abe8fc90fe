/** A value before and after; SQL NULL where it was not there. The path is empty for what appeared or disappeared. */
export interface ValueChange {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** In which way something changed: whether a number that rose is good or bad depends on the number. */
export type Direction = 'added' | 'removed' | 'up' | 'down' | 'other'

/** Numbers in a text, with their signs. */
const numbers = /(?<!\w)[+-]?\d+(?:\.\d+)?/g

/** The direction of all changes of one item, ability or the like. */
export function directionOf(changes: readonly ValueChange[]): Direction {
  const whole = changes.filter(({ path }) => path === '')
  if (whole.length > 0) {
    if (whole.every(({ before }) => before === null)) return 'added'
    return whole.every(({ after }) => after === null) ? 'removed' : 'other'
  }
  const signs = changes.map(signOf)
  if (signs.every((sign) => sign === 1)) return 'up'
  return signs.every((sign) => sign === -1) ? 'down' : 'other'
}

/** 1 where a number rose, -1 where it fell, 0 for everything else. Of a text, all numbers that differ must move the same way. */
function signOf({ before, after }: ValueChange): number {
  if (typeof before === 'number' && typeof after === 'number') return Math.sign(after - before)
  const [old, young] = [textOf(before), textOf(after)]
  if (old === undefined || young === undefined || old.replace(numbers, '#') !== young.replace(numbers, '#')) return 0
  const later = young.match(numbers) ?? []
  const moved = (old.match(numbers) ?? []).map((number, index) => Math.sign(Number(later[index]) - Number(number)))
  const [sign = 0, ...others] = new Set(moved.filter((one) => one !== 0))
  return others.length === 0 ? sign : 0
}

/** A text, or lines of one. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join('\n') : undefined
}
