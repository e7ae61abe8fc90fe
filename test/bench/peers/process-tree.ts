import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended } from '../child.ts'

/** What a command with all its processes came to. */
export interface Cost {
  readonly wallMs: number
  /** Processor time of all of them. */
  readonly cpuMs: number
  /** Most memory that was resident at once in all of them together; NaN where the system does not say. */
  readonly peakMb: number
}

/** How often memory is read, ms. */
const INTERVAL = 15

/**
 * Runs a command to its end. Its processor time is what the shell counts of its children.
 * @throws Error with the end of what it wrote, when its exit code is not 0
 */
export async function measureTree(command: readonly string[], variables: Record<string, string>): Promise<Cost> {
  const folder = await mkdtemp(join(tmpdir(), 'wynnsync-peer-'))
  const times = join(folder, 'times')
  try {
    const started = performance.now()
    const shell = spawn('sh', ['-c', '"$@"; code=$?; times > "$TIMES"; exit $code', 'sh', ...command], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...variables, TIMES: times },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const watching = { peakMb: Number.NaN, isOver: false }
    const watched = watchMemory(shell.pid ?? 0, watching)
    const [out, said, code] = await Promise.all([text(shell.stdout), text(shell.stderr), ended(shell)])
    const wallMs = performance.now() - started
    watching.isOver = true
    await watched
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${(out + said).slice(-3000)}`)
    return { wallMs, cpuMs: childTime(await readFile(times, 'utf8')), peakMb: watching.peakMb }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** The second line of `times`: user and system of all children, such as `0m1.230s 0m0.040s`. */
export function childTime(times: string): number {
  const parts = [...(times.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)]
  return parts.reduce((sum, [, minutes, seconds]) => sum + (Number(minutes) * 60 + Number(seconds)) * 1000, 0)
}

async function watchMemory(root: number, watching: { peakMb: number; isOver: boolean }): Promise<void> {
  while (!watching.isOver) {
    const sizes = await residentBelow(root).catch(() => [])
    const sum = sizes.reduce((total, size) => total + size, 0) / 1024
    if (sum > 0) watching.peakMb = Math.max(sum, Number.isNaN(watching.peakMb) ? 0 : watching.peakMb)
    await sleep(INTERVAL)
  }
}

/** Resident memory of every process below one, in kB. */
async function residentBelow(pid: number): Promise<number[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean)
  const each = await Promise.all(
    children.map(async (child) => {
      const status = await readFile(`/proc/${child}/status`, 'utf8').catch(() => '')
      const own = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0)
      return [own, ...(await residentBelow(Number(child)).catch(() => []))]
    }),
  )
  return each.flat()
}
