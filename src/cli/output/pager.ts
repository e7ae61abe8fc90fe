import { spawn } from 'node:child_process'
import { pagerEnvironment, terminalSettings } from './terminal-settings.ts'

/** What a shell ends with when there is no such command. */
const NOT_FOUND = 127

/**
 * Shows a text through `$PAGER`, by default `less`, and waits until it ends. As with git, less keeps colours and leaves the text on
 * the screen unless `$LESS` says otherwise.
 * @param chops whether lines that are wider than the terminal are scrolled instead of wrapped
 * @returns false when there is no pager
 */
export async function page(text: string, chops: boolean): Promise<boolean> {
  const { pager: wanted } = terminalSettings()
  const command = (wanted ?? (process.platform === 'win32' ? '' : 'less')).trim()
  if (command === '' || command === 'cat') return false
  const pager = spawn(command, {
    shell: true,
    env: pagerEnvironment(chops ? 'RSX' : 'FRX'),
    // That `less` is not installed is no error; that $PAGER is wrong is one.
    stdio: ['pipe', 'inherit', wanted === undefined ? 'ignore' : 'inherit'],
  })
  // Ctrl-C is for the pager, which would stay behind without this process.
  const stay = () => undefined
  process.on('SIGINT', stay)
  // It may end before it has read everything.
  pager.stdin?.on('error', () => undefined).end(text)
  const code = await new Promise<number | null>((resolve) => {
    pager.once('error', () => resolve(NOT_FOUND))
    pager.once('close', resolve)
  })
  process.off('SIGINT', stay)
  return code !== NOT_FOUND
}
