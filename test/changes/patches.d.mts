/** Every change of the table in CONTRIBUTING.md, in the order of the names of their patches. */
export function readChanges(): {
  /** Of the patch, without its ending. */
  readonly name: string
  readonly title: string
  /** Of the patch. */
  readonly path: string
  /** Files that are written by hand, and what is in them. */
  readonly files: (readonly [string, string])[]
  /** Tests that see it. */
  readonly tests: string[]
  /** Every file of the patch. */
  readonly touched: string[]
}[]
