import type { Random } from '../../../src/base/clock.ts'

/** Rows in an order of their own, to be compared with others. */
export function inOrder(rows: readonly (readonly unknown[])[]): (readonly unknown[])[] {
  return [...rows].sort((a, b) => (String(a) < String(b) ? -1 : 1))
}

/** Instants as ISO text. */
export function plain(rows: readonly (readonly unknown[])[]): unknown[][] {
  return rows.map((row) => row.map((value) => (value instanceof Date ? value.toISOString() : value)))
}

/** Moments (ms) between the first and the last of these: any, and some of them exactly. */
export function momentsOf(answers: readonly number[], random: Random, count = 40): number[] {
  const [first = 0, last = 0] = [answers[0], answers.at(-1)]
  return Array.from({ length: count }, (_, nth) =>
    nth % 5 === 0
      ? (answers[Math.floor(random() * answers.length)] ?? first)
      : Math.floor(first + random() * (last - first)),
  )
}

/** Remembers what was computed first. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
