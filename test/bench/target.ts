/** What the program is to reach: one line of the last table. Declared beside what measures it. */
export interface Target {
  /** Its number among the targets, and what it is about. */
  readonly name: string
  /** Of both numbers, such as `ms` or `rows/s`. */
  readonly unit: string
  /** What the measured number is compared with, in the same run. Without one the measured number alone counts. */
  readonly reference?: string
  readonly bound: Bound
}

/** A limit, of the measured number or of its ratio to the reference. */
export type Bound = { readonly of: 'measured' | 'ratio' } & ({ readonly atMost: number } | { readonly atLeast: number })

/** What came of a target in this run. */
export interface Outcome {
  readonly target: Target
  readonly measured: number
  /** The same of the reference, if there is one. */
  readonly reference?: number
}

/** A line of the table of targets. */
export function targetLine({ target, measured, reference = Number.NaN }: Outcome) {
  const ratio = measured / reference
  return {
    target: target.name,
    measured: `${figure(measured)} ${target.unit}`,
    reference: target.reference === undefined ? '' : `${target.reference}: ${figure(reference)}`,
    ratio: Number.isNaN(ratio) ? '' : figure(ratio),
    bound: boundText(target),
    verdict: isMet(target.bound, target.bound.of === 'ratio' ? ratio : measured) ? 'met' : 'not met',
  }
}

/** A number that could not be measured meets nothing. */
export function isMet(bound: Bound, value: number): boolean {
  return 'atMost' in bound ? value <= bound.atMost : value >= bound.atLeast
}

function boundText({ bound, unit }: Target): string {
  const limit = 'atMost' in bound ? `at most ${figure(bound.atMost)}` : `at least ${figure(bound.atLeast)}`
  return bound.of === 'ratio' ? `ratio ${limit}` : `${limit} ${unit}`
}

/** Three digits are more than a bench can repeat. */
function figure(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3 })
}
