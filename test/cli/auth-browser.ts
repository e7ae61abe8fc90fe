import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment, Running } from '../support/cli.ts'
import { startProgram } from '../support/cli.ts'
import { temporaryFolder } from '../support/postgres.ts'

/** Where a test keeps its credential, and the environment that says so. */
export interface Place {
  readonly file: string
  readonly environment: Environment
}

/** A folder of the test's own, in which nobody is logged in. */
export async function nobodyLoggedIn(): Promise<Place> {
  const file = join(await temporaryFolder(), 'config', 'credentials.json')
  return { file, environment: { WYNNSYNC_CREDENTIALS: file } }
}

/** What the file holds. */
export function stored(file: string): Record<string, unknown> & { token: string } {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** A login that waits for the browser. */
export interface WaitingLogin extends Running {
  /** The address of the login page, as printed. */
  readonly url: string
}

/** Starts `auth login` and waits until it has printed the address. */
export async function startLogin(baseUrl: string, flags: readonly string[], place: Place): Promise<WaitingLogin> {
  const args = ['auth', 'login', '--base-url', baseUrl, ...flags]
  const running = startProgram(args, place.environment)
  const printed = new Promise<string>((resolve) => {
    for (const stream of [running.child.stdout, running.child.stderr]) {
      let text = ''
      stream?.on('data', (piece: string) => {
        text += piece
        const found = /^ {2}(http\S+)\n/m.exec(text)?.[1]
        if (found) resolve(found)
      })
    }
  })
  const ended = running.finished.then(({ out, err }): never => {
    throw new Error(`it ended without an address: ${out}${err}`)
  })
  ended.catch(() => {})
  return { ...running, url: await Promise.race([printed, ended]) }
}

/** What a browser is sent back with by the login page, which asks nobody here. */
export async function redirectOf(url: string): Promise<URL> {
  const response = await fetch(url, { redirect: 'manual' })
  const location = response.headers.get('location')
  if (location === null) throw new Error(`no redirect: ${response.status} ${await response.text()}`)
  return new URL(location)
}

/** Follows a redirect to the end and returns the page that is shown. */
export async function pageAt(url: string | URL): Promise<{ status: number; text: string }> {
  const response = await fetch(url)
  return { status: response.status, text: await response.text() }
}

/** Logs in from start to end, as a person would. */
export async function logIn(baseUrl: string, place: Place, flags: readonly string[] = []): Promise<void> {
  const login = await startLogin(baseUrl, ['--no-browser', '--client-id', 'sandbox', ...flags], place)
  await fetch(login.url)
  const { code, err } = await login.finished
  if (code !== 0) throw new Error(`the login failed: ${err}`)
}
