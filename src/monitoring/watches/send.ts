import { spawn } from 'node:child_process'
import { type Clock, followSignal } from '../../base/clock.ts'
import { environmentOfOthers } from '../../base/config.ts'
import type { Http } from '../../base/http.ts'
import { type Posted, postOnce } from '../webhook-delivery.ts'
import { bodyOf, headersOf, type Message, messageJson } from './messages.ts'
import type { Target } from './watch.ts'

/** How long a command may take, ms. */
const COMMAND_TIMEOUT = 10_000

export async function sendMessage(
  target: Target,
  message: Message,
  { clock, signal, http }: { readonly clock: Clock; readonly signal: AbortSignal; readonly http: Http },
): Promise<Posted> {
  if (target.type === 'command') return await runCommand(target.command, JSON.stringify(messageJson(message)), signal)
  const body = bodyOf(target.type, message)
  const secret = target.type === 'webhook' ? target.secret : undefined
  const headers = headersOf(message.id, body, secret, clock.now())
  return await postOnce({ http, url: target.url, body, headers, clock, signal })
}

/** Runs the user's command with the message on stdin. It has none of this program's settings, which may be secret. */
async function runCommand(command: string, input: string, signal: AbortSignal): Promise<Posted> {
  const failed = (failure: string | null) => ({ failure, pause: 0 })
  const env = environmentOfOthers()
  const ending = followSignal(signal)
  const timer = setTimeout(() => ending.abort(), COMMAND_TIMEOUT)
  const posted = new Promise<Posted>((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['pipe', 'ignore', 'ignore'], env, signal: ending.signal })
    child.once('error', () =>
      resolve(
        failed(
          ending.signal.aborted
            ? `the command took longer than ${COMMAND_TIMEOUT / 1000} s`
            : 'the command cannot be run',
        ),
      ),
    )
    child.once('close', (code) => resolve(failed(code === 0 ? null : `the command ended with ${code ?? 'a signal'}`)))
    // A command need not read what it gets.
    child.stdin.on('error', () => undefined).end(input)
  })
  return await posted.finally(() => {
    clearTimeout(timer)
    ending.end()
  })
}

/** A target without its secrets, for people. */
export function targetText(target: Target): string {
  return target.type === 'command' ? 'command' : `${target.type} at ${new URL(target.url).host}`
}
