/** Changes of a text that the terminal shows in colour. They are made after its control characters are escaped. */
export type Style = (safe: string) => string

const sgr = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`

export const bold = sgr(1, 22)
export const red = sgr(31, 39)
export const yellow = sgr(33, 39)

/** The names of the columns of a table that the text begins with. */
export const boldFirstLine: Style = (text) => text.replace(/^.+/, bold)
