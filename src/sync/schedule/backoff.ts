import type { Random } from '../../base/clock.ts'

/**
 * Waits that grow from failure to failure, so that a service that is down is not hammered, nor missed when it is back. They
 * double, each shortened by up to a quarter at random, so that several do not come back at the same instant.
 * @param first and `longest` wait, ms
 */
export function createBackoff({ first, longest }: { first: number; longest: number }, random: Random) {
  let next = first
  return {
    /** How long to wait after one more failure, ms. */
    failed(): number {
      const wait = next * (1 - random() / 4)
      next = Math.min(longest, next * 2)
      return wait
    },
    /** It worked: the next failure starts from the beginning. */
    worked(): void {
      next = first
    },
  }
}
