import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Python with the pinned peers, in a folder of its own that the next run finds again. */
export interface PeerEnvironment {
  readonly python: string
  /** The loader of the Singer specification. */
  readonly target: string
  /** The program of Sling; undefined where its wheel has none for this platform. */
  readonly sling?: string
}

/** Makes the environment, or finds that of an earlier run. A text says why there is none. */
export async function peerEnvironment(sources: string): Promise<PeerEnvironment | string> {
  const requirements = await readFile(join(sources, 'requirements.txt'), 'utf8')
  const found = await run('python3', ['--version']).catch(() => undefined)
  if (!found) return 'python3 is not installed'
  const version = found.stdout.trim()
  const name = createHash('sha256').update(`${version}\n${requirements}`).digest('hex').slice(0, 12)
  const folder = join(tmpdir(), `wynnsync-bench-peers-${name}`)
  const done = join(folder, 'installed')
  if (!(await exists(done))) {
    try {
      await rm(folder, { recursive: true, force: true })
      await mkdir(folder, { recursive: true })
      await run('python3', ['-m', 'venv', join(folder, 'venv')])
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r']
      await run(join(folder, 'venv/bin/python'), [...pip, join(sources, 'requirements.txt')])
      await writeFile(done, '')
    } catch (error) {
      return `the peers could not be installed: ${String(error).split('\n')[0]}`
    }
  }
  const bin = join(folder, 'venv/bin')
  const sling = await slingProgram(join(folder, 'venv/lib'))
  return { python: join(bin, 'python'), target: join(bin, 'target-postgres'), ...(sling && { sling }) }
}

/** In the wheel of the platform. The script beside it would look for the program on the network. */
async function slingProgram(libraries: string): Promise<string | undefined> {
  const names = await readdir(libraries, { recursive: true })
  const path = names.find((name) => /sling_\w+[/]bin[/]sling-[\w-]+$/.test(name))
  return path && join(libraries, path)
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}
