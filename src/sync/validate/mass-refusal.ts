/** Keys whose refusals are judged together; what one of them says is held back until so many others have answered. */
export const refusalWindow = 20

/** So many keys in a row that the API showed before and now refuses. */
const inARow = 3
/** The same where none of them was ever shown: who begins meets all the private players there are. */
const strangersInARow = 5
/** The share (0..1) of the window that is too much, of keys that were shown before, and of all. */
const share = 0.2
const shareOfStrangers = 0.5

/** How a key answered: with a body, or with a refusal that nothing follows from yet. */
export type KeyAnswer = 'shown' | 'refused' | 'stranger refused'

/** Judges whether refusals come one by one, as players hide and guilds end, or many at once, as a service goes wrong. */
export interface RefusalWatch {
  add(answer: KeyAnswer): void
  /**
   * Why the refusals are not to be believed, if they are not.
   * @param isOver no further key comes: a window that is not full counts too
   */
  doubt(isOver: boolean): string | undefined
}

export function watchRefusals(): RefusalWatch {
  let window: KeyAnswer[] = []
  return {
    add(answer) {
      window = [...window, answer].slice(-refusalWindow)
    },
    doubt(isOver) {
      const row = window.slice(window.lastIndexOf('shown') + 1)
      if (row.length >= strangersInARow || (row.length >= inARow && row.includes('refused')))
        return `${row.length} keys in a row were refused`
      if (!isOver && window.length < refusalWindow) return undefined
      const refused = window.filter((one) => one !== 'shown')
      const known = refused.filter((one) => one === 'refused')
      if (refused.length < inARow) return undefined
      const isMass =
        (known.length >= inARow && known.length >= share * window.length) ||
        (refused.length >= strangersInARow && refused.length >= shareOfStrangers * window.length)
      return isMass ? `${refused.length} of ${window.length} keys were refused` : undefined
    },
  }
}
