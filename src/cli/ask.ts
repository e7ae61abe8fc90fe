import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { FatalError, UsageError } from '../base/errors.ts'
import type { Context } from './context.ts'

/** Asks a person. */
export interface Questions {
  /** @returns what was typed, without blanks around it; `usual` for nothing */
  ask(question: string, usual: string): Promise<string>
  /** The same without showing what is typed. */
  askSecret(question: string): Promise<string>
}

type Asking = Pick<Context, 'err' | 'signal' | 'progress'>

/** The flags of a command that destroys something. */
export interface ConsentFlags {
  readonly yes?: boolean
  readonly dryRun?: boolean
}

/**
 * Asks a person whether a command may destroy something; with `--yes` it may.
 * @throws FatalError when it may not; UsageError where neither a flag nor a person on a terminal says it
 */
export async function consent(
  context: Asking,
  { yes }: ConsentFlags,
  { command, question }: { readonly command: string; readonly question: string },
): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY)
    throw new UsageError(
      `${command} asks first, and there is no terminal: add --yes, or --dry-run to see what it would do`,
    )
  const said = await questionsOn(context).ask(`${question} yes or`, 'no')
  if (!/^y(es)?$/i.test(said)) throw new FatalError('nothing was changed')
}

/**
 * Asks on the terminal of stdin; questions go to stderr, so that stdout holds the result alone.
 * @throws UsageError without a terminal
 */
export function questionsOn({ err, signal, progress }: Asking): Questions {
  const { stdin } = process
  if (!stdin.isTTY) throw new UsageError('init asks questions and needs a terminal; --yes asks none')
  const line = async () => {
    // The terminal itself echoes and edits the line; nothing of readline's own is shown.
    const output = new Writable({ write: (_chunk, _encoding, done) => done() })
    const reader = createInterface({ input: stdin, output, terminal: false })
    // Without a line, as after Ctrl-D, it is what an empty one is.
    const ended = new Promise<string>((resolve) => reader.once('close', () => resolve('')))
    return await Promise.race([reader.question('', { signal }), ended]).finally(() => reader.close())
  }
  return {
    async ask(question, usual) {
      progress.stop()
      err.write(`${question} [${usual}] `)
      return (await line()).trim() || usual
    },
    async askSecret(question) {
      progress.stop()
      // Raw before the question shows: what is pasted at once would be echoed otherwise.
      stdin.setRawMode(true)
      err.write(`${question} `)
      try {
        return (await hiddenLine(stdin, signal)).trim()
      } finally {
        stdin.setRawMode(false)
        stdin.pause()
        err.write('\n')
      }
    },
  }
}

/** What is typed until Enter, in raw mode: the terminal echoes nothing, and backspace and Ctrl-C are plain characters. */
function hiddenLine(input: NodeJS.ReadStream, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed = ''
    const end = (act: () => void) => {
      input.off('data', onData)
      signal.removeEventListener('abort', onAbort)
      act()
    }
    const onAbort = () => end(() => reject(signal.reason))
    const onData = (data: Buffer) => {
      for (const character of data.toString('utf8')) {
        if (character === '\r' || character === '\n' || character === '\u0004') return end(() => resolve(typed))
        if (character === '\u0003') return end(() => reject(new UsageError('interrupted')))
        typed = character === '\u007f' || character === '\b' ? typed.slice(0, -1) : typed + character
      }
    }
    signal.addEventListener('abort', onAbort, { once: true })
    input.on('data', onData).resume()
  })
}
