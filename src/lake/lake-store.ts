import { statSync } from 'node:fs'
import type { Clock } from '../base/clock.ts'
import type { ProxySettings } from '../base/proxies.ts'
import type { S3Settings } from './s3/s3-client.ts'

/** The one file that a place names, as opposed to a folder or bucket; undefined: it names none. */
export function fileKind(place: string): 'duckdb' | 'sqlite' | undefined {
  const [, ending] = /\.(duckdb|sqlite)$/i.exec(place) ?? []
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false
  return ending === undefined || isFolder ? undefined : ending.toLowerCase() === 'sqlite' ? 'sqlite' : 'duckdb'
}

/** The folder below `work` for files that are being written. */
export const WRITING = 'writing'

export interface LakeStore {
  readonly place: string
  /** A folder of this machine for files that are being written. */
  readonly work: string
  /** @returns undefined when there is no such file */
  readText(path: string, signal?: AbortSignal): Promise<string | undefined>
  /** Puts a file of `work` at a path: a reader sees the whole of it, or what was there before. @param sha256 in hex, if known */
  put(file: string, path: string, sha256?: string): Promise<void>
  /** Puts a file in place of a text that was read, or of none: nothing is put where another is there by now. @returns whether it was put */
  replace(file: string, path: string, was: string | undefined): Promise<boolean>
  /** All files whose names end so, by their paths, with their sizes in bytes. */
  list(ending: string): Promise<ReadonlyMap<string, number>>
  remove(path: string): Promise<void>
}

/** What places other than folders need. Absent, the proxies are those of the environment. */
export interface StoreSettings {
  readonly s3: S3Settings
  readonly proxy?: ProxySettings | undefined
  readonly clock: Clock
  /** A folder of this machine in which unfinished exports are remembered. */
  readonly dataDir: string
}

/** What the configuration has of them. */
export function storeSettings(app: {
  readonly config: Pick<StoreSettings, 's3' | 'proxy' | 'dataDir'>
  readonly clock: Clock
}): StoreSettings {
  const { s3, proxy, dataDir } = app.config
  return { s3, proxy, dataDir, clock: app.clock }
}
