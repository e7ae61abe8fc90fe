import { visibleText } from '../../app/terminal-text.ts'

/** Where a command writes: stdout or stderr, with nothing in it that a terminal would act upon. */
export interface Output {
  write(text: string): void
  /** Text whose characters must arrive unchanged, such as CSV; on a terminal it is shown as `write` shows it. */
  writeData(text: string): void
  /** Empties the screen, where there is one. */
  clear(): void
  readonly isTTY: boolean
}

/** The only way from a command to a stream: no text of the API reaches a terminal with its control characters. */
export function openOutput(stream: NodeJS.WriteStream): Output {
  const isTTY = stream.isTTY === true
  return {
    isTTY,
    write: (text) => void stream.write(visibleText(text)),
    writeData: (text) => void stream.write(isTTY ? visibleText(text) : text),
    clear: () => {
      if (isTTY) stream.write('\u001b[H\u001b[J')
    },
  }
}
