import { accessSync, closeSync, constants, fstatSync, openSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import * as z from 'zod'
import { codeOf, FatalError, messageOf, UsageError } from '../base/errors.ts'
import { createFolder, replaceFile } from '../base/private-folder.ts'
import { textOfFile } from '../base/text/decode.ts'

/** The player of a credential. */
export interface Who {
  readonly uuid: string
  readonly username: string | null
}

/** A credential that was obtained once and is kept in a file. */
export interface StoredCredential {
  readonly kind: 'oauth' | 'token'
  /** The only API it may be sent to, in the form of `normalBaseUrl`. */
  readonly baseUrl: string
  /** What its player allowed; empty for an API token. */
  readonly scopes: readonly string[]
  /** ISO 8601, UTC. */
  readonly obtainedAt: string
  /** ISO 8601, UTC, to about an hour; null when it was never used. */
  readonly lastUsedAt: string | null
  readonly who: Who | null
  /** A function, so that printing the object does not print the secret. */
  readonly token: () => string
}

/** The credential that requests carry, and where it came from. */
export interface Credential {
  readonly from: 'WYNNSYNC_TOKEN' | 'file'
  readonly token: () => string
  /** The contents of the file; null for `WYNNSYNC_TOKEN`. */
  readonly stored: StoredCredential | null
}

/** Where credentials may come from; a part of the configuration. */
export interface CredentialSources {
  /** `WYNNSYNC_TOKEN`. */
  readonly token: string | undefined
  readonly credentialsFile: string
  readonly baseUrl: string
}

/** How often the last use is stored, in ms. */
export const NOTE_EVERY_MS = 3_600_000

/**
 * `WYNNSYNC_TOKEN`, else the stored credential when it is for this very API, else null.
 * @throws FatalError when there is a file that cannot or must not be used, with what to do
 */
export function chooseCredential({ token, credentialsFile, baseUrl }: CredentialSources): Credential | null {
  if (token !== undefined) return { from: 'WYNNSYNC_TOKEN', token: () => token, stored: null }
  const stored = readCredential(credentialsFile)
  if (stored === null || stored.baseUrl !== normalBaseUrl(baseUrl)) return null
  return { from: 'file', token: stored.token, stored }
}

/** One spelling for all that mean the same API: no slash at the end, host in lower case. */
export function normalBaseUrl(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

/**
 * The stored credential; null when there is none.
 * @throws FatalError when the file cannot be read, can be read by others, or holds something else; with what to do
 */
export function readCredential(file: string): StoredCredential | null {
  let text: string
  try {
    text = readPrivately(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    if (error instanceof FatalError) throw error
    if (error instanceof UsageError) throw new FatalError(error.message, { context: { file } })
    throw new FatalError(`the credential in ${file} cannot be read: ${messageOf(error)}`, { context: { file } })
  }
  const credential = parseCredential(text)
  if (credential) return credential
  // Without a cause: a parser's error quotes the text.
  throw new FatalError(`${file} holds no credential of wynnsync; delete it and run wynnsync auth login`, {
    context: { file },
  })
}

/**
 * Creates the folder for its owner only and checks that it can be written, before a login begins.
 * @throws UsageError where it belongs to another user, FatalError when it cannot be written; with what to do
 */
export function prepareToStore(file: string): void {
  try {
    createFolder(dirname(file))
    accessSync(dirname(file), constants.W_OK | constants.X_OK)
  } catch (error) {
    throw storeError(file, error)
  }
}

/**
 * Puts the credential into the file, readable by its owner only. Another process sees the old file or the new one.
 * @throws FatalError when it cannot be written
 */
export function storeCredential(file: string, credential: StoredCredential): void {
  const { token, ...rest } = credential
  try {
    replaceFile(file, `${JSON.stringify({ ...rest, token: token() }, null, 2)}\n`)
  } catch (error) {
    throw storeError(file, error)
  }
}

/**
 * Stores that the credential was used, at most once an hour.
 * @param now ms since the epoch
 * @throws FatalError when the file cannot be read or written
 */
export function noteUse(file: string, used: StoredCredential, now: number): void {
  if (used.lastUsedAt !== null && Math.abs(now - Date.parse(used.lastUsedAt)) < NOTE_EVERY_MS) return
  // It may have been deleted or replaced meanwhile.
  const current = readCredential(file)
  if (current === null || current.token() !== used.token()) return
  storeCredential(file, { ...current, lastUsedAt: new Date(now).toISOString() })
}

/** Removes the file, whatever it holds. True when there was one. @throws FatalError when it cannot be removed */
export function forgetCredential(file: string): boolean {
  try {
    rmSync(file)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw new FatalError(`the credential in ${file} cannot be removed: ${messageOf(error)}`, { context: { file } })
  }
}

function readPrivately(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    // Windows has no such bits: there the user's folders are private by themselves.
    const shared = process.platform !== 'win32' && (fstatSync(descriptor).mode & 0o077) !== 0
    if (!shared) return textOfFile(readFileSync(descriptor), file)
    const advice = `run chmod 600 ${file}, and log in again if another user may have read it`
    throw new FatalError(`the credential in ${file} is not used, because other users can read it: ${advice}`, {
      context: { file },
    })
  } finally {
    closeSync(descriptor)
  }
}

/** What the file must hold; what else is missing or odd in it is left out. */
const fileSchema = z.object({
  kind: z.enum(['oauth', 'token']),
  baseUrl: z.string().refine((url) => URL.canParse(url)),
  token: z.string().min(1),
  scopes: z.array(z.string()).catch([]),
  obtainedAt: z.string().catch(''),
  lastUsedAt: z.string().nullable().catch(null),
  who: z
    .object({ uuid: z.string(), username: z.string().nullable().catch(null) })
    .nullable()
    .catch(null),
})

function parseCredential(text: string): StoredCredential | null {
  try {
    const { token, baseUrl, ...rest } = fileSchema.parse(JSON.parse(text))
    return { ...rest, baseUrl: normalBaseUrl(baseUrl), token: () => token }
  } catch {
    return null
  }
}

function storeError(file: string, error: unknown): Error {
  if (error instanceof UsageError) return error
  const advice = 'let WYNNSYNC_CREDENTIALS name a file in a folder of yours'
  return new FatalError(`the credential cannot be stored in ${file} (${messageOf(error)}): ${advice}`, {
    context: { file },
  })
}
