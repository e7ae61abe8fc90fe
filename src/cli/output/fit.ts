/** Blanks between two columns. */
export const gap = 2
/** Columns are not cut below this; then the last ones are left out. */
const narrowest = 10

/**
 * The widths of the columns that fit a terminal: the widest are cut first, and the last left out when that is not enough. The
 * first always stays.
 * @param natural widths that show everything
 * @param isCuttable whether a column may be cut: half a number is another number
 */
export function fitColumns(natural: readonly number[], isCuttable: readonly boolean[], width: number): number[] {
  const cutTo = (most: number, count: number) =>
    natural.slice(0, count).map((one, index) => (isCuttable[index] ? Math.min(one, most) : one))
  const total = (widths: readonly number[]) => widths.reduce((sum, one) => sum + one + gap, -gap)
  let count = natural.length
  while (count > 1 && total(cutTo(narrowest, count)) > width) count--
  let most = width
  while (most > narrowest && total(cutTo(most, count)) > width) most--
  return cutTo(most, count)
}
