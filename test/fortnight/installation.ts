import { cpSync, lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { freePort } from '../support/free-port.ts'
import { brokenIn, type Environment, type Place, type Running, type Stage } from './stage.ts'

/** What all commands of an installation have, and where databases come from. */
export interface Surroundings {
  readonly stage: Stage
  /** The repository, compiled. */
  readonly root: string
  readonly environment: Environment
  /** A PostgreSQL server whose user may create databases. */
  readonly server: string
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** One of the two that are played side by side: `wynnsync start` on a database of its own, and what is typed beside it. */
export class Installation {
  readonly kind: 'embedded' | 'server'
  readonly main: Place
  /** Where the pages are. */
  url = ''
  /** Starts that ended, with their exit code; null: by a signal. */
  readonly ends: (number | null)[] = []
  private readonly around: Surroundings
  private running: Running | undefined
  private port = 0
  private isStopping = false
  private places = 0

  private constructor(kind: Installation['kind'], around: Surroundings, main: Place) {
    this.kind = kind
    this.around = around
    this.main = main
  }

  static async open(kind: Installation['kind'], around: Surroundings): Promise<Installation> {
    const name = `${kind} main`
    const cwd = around.stage.makeFolder(`${kind}/main`)
    const own =
      kind === 'embedded'
        ? { WYNNSYNC_DATA_DIR: join(cwd, 'history') }
        : { DATABASE_URL: await newDatabase(around.server, 'fortnight') }
    const main = { name, cwd, environment: { ...around.environment, ...own } }
    return new Installation(kind, around, main)
  }

  /** A folder with an empty database. Where the settings say nothing, the embedded one is below HOME, which is the folder. */
  async emptyPlace(what: 'copy' | 'fresh'): Promise<Place> {
    const name = `${what}${++this.places}`
    const cwd = this.around.stage.makeFolder(`${this.kind}/${name}`)
    const server = async () => ({ DATABASE_URL: await newDatabase(this.around.server, name) })
    const embedded = what === 'copy' ? { WYNNSYNC_DATA_DIR: join(cwd, 'history') } : {}
    const own = this.kind === 'server' ? await server() : embedded
    return { name: `${this.kind} ${name}`, cwd, environment: { ...this.around.environment, ...own } }
  }

  async removePlace({ cwd, environment }: Place): Promise<void> {
    rmSync(cwd, { recursive: true, force: true, maxRetries: 3 })
    const { DATABASE_URL: url } = environment
    if (url !== undefined)
      await asAdmin(this.around.server, `drop database if exists ${new URL(url).pathname.slice(1)} with (force)`)
  }

  /** Starts recording, and says that on the page once it answers. */
  async start(): Promise<void> {
    const { stage } = this.around
    this.port ||= await freePort()
    this.url = `http://127.0.0.1:${this.port}`
    this.isStopping = false
    const running = stage.start(`exec wynnsync start --web-port ${this.port} --rate-limit 0`, this.main)
    this.running = running
    void running.ended.then((ended) => {
      this.ends.push(ended.code)
      stage.note(`${this.main.name}: start ended with ${ended.code}\n${ended.err}`)
      const broken = brokenIn(ended)
      if (broken.length > 0) stage.stumble(`${this.main.name}: start ${broken.join(', ')}`, ended)
      if (!this.isStopping) stage.stumble(`${this.main.name}: start ended by itself with ${ended.code}`, ended)
    })
    const late = setTimeout(() => stage.stumble(`${this.main.name}: start is not ready after 60 s`), 60_000)
    await running.until(/\bstarted\b/)
    clearTimeout(late)
  }

  /** As a user ends it: within ten seconds, and well. */
  async stop(): Promise<void> {
    const { stage } = this.around
    const began = Date.now()
    this.isStopping = true
    this.running?.signal('SIGTERM')
    const killed = setTimeout(() => this.running?.signal('SIGKILL'), 60_000)
    const ended = await this.running?.ended
    clearTimeout(killed)
    const seconds = (Date.now() - began) / 1000
    if (ended?.code !== 0 || seconds > 11)
      stage.stumble(`${this.main.name}: SIGTERM: exit ${ended?.code} after ${seconds} s`, ended)
  }

  async kill(): Promise<void> {
    this.isStopping = true
    this.running?.signal('SIGKILL')
    await this.running?.ended
  }

  /** It sleeps so long, as a laptop does. */
  async pause(ms: number): Promise<void> {
    this.running?.signal('SIGSTOP')
    await sleep(ms)
    this.running?.signal('SIGCONT')
  }

  /** Does something with the database while nothing records. */
  async withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const { DATABASE_URL: url, WYNNSYNC_DATA_DIR: folder = '' } = this.main.environment
    if (url !== undefined) return await closing(await openServer(url), work)
    // A copy: the folder belongs to another user.
    const copy = join(this.around.stage.folder, 'asked')
    cpSync(folder, copy, { recursive: true, filter: (path) => !lstatSync(path).isSocket() })
    try {
      // As compiled: it finds its engine beside itself.
      const { openEmbedded } = await import(join(this.around.root, 'dist/db/embedded/embedded.js'))
      const { systemClock } = await import(join(this.around.root, 'dist/base/clock.js'))
      return await closing(await openEmbedded(copy, { clock: systemClock }), work)
    } finally {
      rmSync(copy, { recursive: true, force: true, maxRetries: 3 })
    }
  }
}

async function closing<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

async function newDatabase(server: string, name: string): Promise<string> {
  await asAdmin(server, `create database ${name} template template0`)
  return databaseUrl(server, name)
}

/** The URL of another database of a server. */
export function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

export async function asAdmin(server: string, statement: string): Promise<void> {
  await closing(await openServer(server), (db) => db.query(statement))
}
