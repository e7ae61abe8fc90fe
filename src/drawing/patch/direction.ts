/** A value before and after; SQL NULL where it was not there. The path is empty for what appeared or disappeared. */
export interface ValueChange {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** In which way something changed: up where every number is better, or at least higher where nothing is better. */
export type Direction = 'added' | 'removed' | 'up' | 'down' | 'other'

/** Of these less is better. */
const costs = /cost|cooldown|requirement/i

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

/** 1 where a number rose, -1 where it fell, the other way of costs, 0 for everything else. Of a text, all numbers that differ must move the same way. */
function signOf({ path, before, after }: ValueChange): number {
  const sign = (from: number, to: number, of: string) => Math.sign(to - from) * (costs.test(of) ? -1 : 1)
  if (typeof before === 'number' && typeof after === 'number') return sign(before, after, path)
  const old = linesOf(before)
  const young = linesOf(after)
  const isLike = (line: string, place: number) => line.replace(numbers, '#') === young?.[place]?.replace(numbers, '#')
  if (old === undefined || old.length !== young?.length || !old.every(isLike)) return 0
  const moved = old.flatMap((line, place) => {
    const later = young[place]?.match(numbers) ?? []
    return (line.match(numbers) ?? []).map((number, index) =>
      sign(Number(number), Number(later[index]), `${path} ${line}`),
    )
  })
  const [first = 0, ...others] = new Set(moved.filter((one) => one !== 0))
  return others.length === 0 ? first : 0
}

/** The lines of a text. */
function linesOf(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.split('\n')
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
}
