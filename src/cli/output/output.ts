import { visibleText } from '../../base/terminal-text.ts'
import { showsColors, terminalSettings } from './terminal-settings.ts'

/** Where a command writes: stdout or stderr, with nothing in it that a terminal would act upon. */
export interface Output {
  /** @param style how a terminal shows it */
  write(text: string, style?: Style): void
  /** The same through a pager, when a terminal has not enough lines. @param chops wide lines are scrolled, not wrapped */
  page(text: string, options?: { readonly style?: Style | undefined; readonly chops?: boolean }): Promise<void>
  /** Text whose characters must arrive unchanged, such as CSV; on a terminal it is shown as `write` shows it. */
  writeData(text: string): void
  /** Empties the screen, where there is one. */
  clear(): void
  readonly isTTY: boolean
  /** Characters in a line of the terminal: `$COLUMNS`, else as it says itself. Undefined when unknown, or for no terminal. */
  readonly width: number | undefined
}

/** The only way from a command to a stream: no text of the API reaches a terminal with its control characters. */
export function openOutput(stream: NodeJS.WriteStream): Output {
  const isTTY = stream.isTTY === true
  const hasColors = showsColors(isTTY)
  const shownText = (text: string, style: Style = (safe) => safe) =>
    hasColors ? style(visibleText(text)) : visibleText(text)
  const width = () => (isTTY ? terminalSettings().columns || stream.columns || undefined : undefined)
  const fits = (text: string) => {
    if (!isTTY || !stream.rows) return true
    const heights = text.split('\n').map((line) => Math.max(1, Math.ceil(line.length / (width() ?? Infinity))))
    return heights.reduce((sum, one) => sum + one, 0) <= stream.rows
  }
  return {
    isTTY,
    get width() {
      return width()
    },
    write: (text, style) => void stream.write(shownText(text, style)),
    page: async (text, { style, chops = false } = {}) => {
      const shown = shownText(text, style)
      if (!fits(text) && (await (await import('./pager.ts')).page(shown, chops))) return
      stream.write(shown)
    },
    writeData: (text) => void stream.write(isTTY ? visibleText(text) : text),
    clear: () => {
      if (isTTY) stream.write('\u001b[H\u001b[J')
    },
  }
}

/** Changes of a text that the terminal shows in colour. They are made after its control characters are escaped. */
export type Style = (safe: string) => string

const sgr = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`

export const bold = sgr(1, 22)
export const red = sgr(31, 39)
export const yellow = sgr(33, 39)
