/** Keys whose refusals are judged together; what one of them says is held back until so many others have responded. */
export const refusalWindow = 20

/** So many keys in a row that the API showed before and now refuses. */
const inARow = 3
/** The same where none of them was ever shown: a new installation meets all the private keys there are. */
const unknownInARow = 5
/** The share (0..1) of the window that is too much, of keys that were shown before, and of all. */
const share = 0.2
const shareOfUnknown = 0.5

/** How a key responded: with a body, or with a refusal that nothing follows from yet. */
export type KeyResponse = 'shown' | 'refused' | 'unknown refused'

/** The latest responses with one more. */
export function addResponse(window: readonly KeyResponse[], response: KeyResponse): readonly KeyResponse[] {
  return [...window, response].slice(-refusalWindow)
}

/**
 * Judges whether refusals come one by one, as keys hide and end, or many at once, as a service fails.
 * @param isOver no further key comes: a window that is not full counts too
 * @returns why the refusals are not credible; undefined when they are
 */
export function massRefusal(window: readonly KeyResponse[], isOver: boolean): string | undefined {
  const row = window.slice(window.lastIndexOf('shown') + 1)
  if (row.length >= unknownInARow || (row.length >= inARow && row.includes('refused')))
    return `${row.length} keys in a row were refused`
  if (!isOver && window.length < refusalWindow) return undefined
  const refused = window.filter((response) => response !== 'shown')
  const known = refused.filter((response) => response === 'refused')
  if (refused.length < inARow) return undefined
  const isMass =
    (known.length >= inARow && known.length >= share * window.length) ||
    (refused.length >= unknownInARow && refused.length >= shareOfUnknown * window.length)
  return isMass ? `${refused.length} of ${window.length} keys were refused` : undefined
}
